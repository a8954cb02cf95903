# syntax=docker/dockerfile:1
# Hob as an image, built from this checkout with the locked versions of everything:
#   docker compose up --detach --build        (docs/how-to/run-in-a-container.md)

FROM ghcr.io/astral-sh/uv:0.13.9 AS uv

FROM python:3.13-slim-trixie AS build
COPY --from=uv /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/hob
WORKDIR /src
# The libraries first: they change seldom, and so their layer stays.
COPY pyproject.toml uv.lock README.md LICENSE CHANGELOG.md ./
RUN uv sync --locked --no-dev --no-install-project
COPY src ./src
# The empty file tells `hob upgrade` that this is an image.
RUN uv sync --locked --no-dev --no-editable && touch /opt/hob/hob-image

FROM python:3.13-slim-trixie
# tini passes signals on and buries what commands leave behind; bubblewrap confines them, where the engine lets it.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 1000 hob \
    && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /data --shell /usr/sbin/nologin hob \
    && install --directory --owner=1000 --group=1000 --mode=0700 /data
COPY --from=build /opt/hob /opt/hob
ENV PATH=/opt/hob/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 HOME=/data \
    HOB_HOME=/data/home HOB_WORKSPACE_PATH=/data/workspace HOB_GATEWAY_HOST=0.0.0.0
USER 1000:1000
WORKDIR /data
VOLUME ["/data"]
EXPOSE 18790
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-P", "-m", "hob.app.daemon.healthcheck"]
ENTRYPOINT ["/usr/bin/tini", "--", "hob"]
CMD ["serve"]
