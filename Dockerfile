# One image for every role: `docker run IMAGE web`, `worker`, `background` or `beat`; compose.yaml has them all.
# What it starts is `./run up --only ROLE`, as on a machine without containers (docs/deployment.md).
FROM python:3.11-slim-bookworm AS installed
WORKDIR /app
# Nothing but the locks decides what is installed: this layer stays until one of them changes
COPY run requirements*.txt package.json package-lock.json ./
COPY launcher launcher
RUN ["./run", "install"]

FROM python:3.11-slim-bookworm
RUN ["useradd", "--system", "--uid", "10001", "--create-home", "backoffice"]
WORKDIR /app
COPY --from=installed /app/.venv .venv
COPY --from=installed /app/node_modules node_modules
COPY . .
RUN BACKOFFICE_SANDBOX=1 SECRET_KEY=of-the-build-only .venv/bin/python manage.py compile_po && \
    install --directory --owner=backoffice --mode=0700 /data
USER 10001
ENV BACKOFFICE_DATA=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=10s --start-period=90s CMD ["./run", "status"]
ENTRYPOINT ["./run", "up", "--host", "0.0.0.0", "--only"]
CMD ["web"]
