#!/bin/bash
# Run once by the postgres image, on an empty volume: the database, its owner, and the role of the app's processes.
set -euo pipefail
psql --set ON_ERROR_STOP=1 --set owner="$OWNER_PASSWORD" --set app="$APP_PASSWORD" --username postgres <<'SQL'
CREATE ROLE backoffice_owner LOGIN PASSWORD :'owner';
CREATE ROLE backoffice_app LOGIN PASSWORD :'app';
CREATE DATABASE backoffice OWNER backoffice_owner;
REVOKE ALL ON DATABASE backoffice FROM PUBLIC;
GRANT CONNECT ON DATABASE backoffice TO backoffice_app;
SQL
