# Stratagem with vLLM for NVIDIA GPUs: docker build -f containers/cuda.Dockerfile -t stratagem-cuda .
FROM nvidia/cuda:12.9.1-runtime-ubuntu24.04

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PATH=/opt/venv/bin:$PATH
# The compiler serves vLLM, which builds some kernels when it starts.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc g++ python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/venv
WORKDIR /opt/stratagem
COPY pyproject.toml README.md LICENSE ./
COPY docs/man ./docs/man
COPY recipes ./recipes
COPY src ./src
# The extra names the version of vLLM, which brings those of its own packages.
# hadolint ignore=DL3013
RUN pip install '.[vllm,diplomacy,api]' && useradd --create-home --uid 1001 stratagem
USER 1001
# docker run --gpus all --user "$(id -u)" -e HOME=/work -v "$PWD:/work" stratagem-cuda train RECIPE --set engine=vllm
WORKDIR /work
ENTRYPOINT ["stratagem"]
CMD ["--help"]
