# One image for every role: `docker run IMAGE web`, `worker`, `background` or `beat`; compose.yaml has them all.
# It starts `./run up --only ROLE`, as on a machine without containers (docs/deployment.md).
# deploy/try_image.py sells with it. Tools that only build (node, npm, pip) stay in the second stage.
FROM python:3.11-slim-bookworm AS base

FROM base AS made
WORKDIR /app
# Only the locks decide the installed packages: this layer stays until a lock changes
COPY run pyproject.toml requirements.txt requirements-node.txt requirements-pip.txt package.json package-lock.json ./
COPY launcher launcher
RUN ["./run", "install"]
COPY . .
RUN ["python3", "deploy/slim_image.py"]
# with the bytecode of the running code: nobody may write there later
RUN export BACKOFFICE_SANDBOX=1 SECRET_KEY=of-the-build-only && .venv/bin/python manage.py compile_po && \
    DJANGO_SETTINGS_MODULE=backoffice.settings .venv/bin/python -c \
    "import django; django.setup(); from backoffice.starting import load_everything; load_everything()"

FROM base
RUN useradd --system --uid 10001 --create-home backoffice && \
    install --directory --owner=backoffice --mode=0700 /data
COPY --from=made /app /app
WORKDIR /app
USER 10001
ENV BACKOFFICE_DATA=/data LOG_FORMAT=json PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=10s --start-period=90s CMD ["./run", "status"]
ENTRYPOINT ["./run", "up", "--host", "0.0.0.0", "--only"]
CMD ["web"]
