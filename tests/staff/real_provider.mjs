// A provider of OpenID Connect that is certified and none of ours, for tests/staff/test_real_provider.py. Arguments: its people
// by subject, and our client. It prints its address.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
const people = JSON.parse(process.argv[2]);
const [client_id, client_secret, redirect_uri] = process.argv.slice(3);
const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id, client_secret, redirect_uris: [redirect_uri], token_endpoint_auth_method: 'client_secret_post' }],
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'] },
    conformIdTokenClaims: false,
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    pkce: { required: () => true },
    cookies: { keys: ['of-the-tests'] },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
