# Stratagem for a machine without a GPU: docker build -f containers/cpu.Dockerfile -t stratagem .
FROM python:3.11-slim

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=2
WORKDIR /opt/stratagem
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY docs/man ./docs/man
COPY recipes ./recipes
COPY src ./src
# The index of torch has builds without CUDA, which are a tenth as large.
RUN pip install -c constraints.txt --extra-index-url https://download.pytorch.org/whl/cpu '.[models,diplomacy,api]' \
    && useradd --create-home --uid 1001 stratagem
USER 1001
# Runs, records and the cache are written here, by the user who owns the folder:
# docker run --user "$(id -u)" -e HOME=/work -v "$PWD:/work" stratagem train sepo/kuhn-tiny
WORKDIR /work
ENTRYPOINT ["stratagem"]
CMD ["--help"]
