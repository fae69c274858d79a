# On your own machine, where nobody else reaches the port:
#
#     docker build -t glossa .
#     docker run --rm -p 127.0.0.1:8501:8501 -v glossa-data:/data glossa --open
#
# For others, behind a proxy that speaks HTTPS (docs/operate.md):
#
#     docker run -p 127.0.0.1:8501:8501 -v glossa-data:/data \
#         -e GLOSSA_PASSWORD -e GLOSSA_HOSTS=notes.example glossa
#
# Options after the image's name are those of `glossa app`. Inside a container the server has to
# listen at every address, so without --open or a way to sign in it refuses to start.
FROM python:3.11-slim

# tini reaps the training processes that outlive the page that started them.
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/*

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore \
    PYTHONUNBUFFERED=1

WORKDIR /app
COPY requirements.txt .

# Which torch is installed. For a small CPU image, name the index of PyTorch's CPU wheels (the install
# selector on PyTorch's site shows its address, and those of the CUDA versions):
#
#     docker build --build-arg TORCH_INDEX_URL=<address> .
#
# Without an address, TORCH_VARIANT decides:
#   cpu   (default) torch without its NVIDIA packages if it starts without them, else with them.
#   cuda  torch with all its packages; run the container with `--gpus all`.
#
# What was tried: for Linux on x86-64 the default index holds the CUDA build, and torch 2.13.0 of it
# does not import without the NVIDIA packages (libcudnn.so.9 is missing). There the cpu variant gives
# the same large image as cuda, and it still runs on the CPU. The CPU build needs only the seven
# packages below. Other processors were not tried.
ARG TORCH_VARIANT=cpu
ARG TORCH_INDEX_URL=""
RUN set -eu; \
    torch="$(grep '^torch==' requirements.txt)"; \
    if [ -n "$TORCH_INDEX_URL" ]; then \
        pip install -q --index-url "$TORCH_INDEX_URL" "$torch"; \
    elif [ "$TORCH_VARIANT" = cuda ]; then \
        pip install -q "$torch"; \
    elif [ "$TORCH_VARIANT" = cpu ]; then \
        pip install -q --no-deps "$torch"; \
        pip install -q filelock==4.2.10 typing-extensions==4.16.0 setuptools==84.2.1 \
            sympy==1.14.0 networkx==3.6.1 jinja2==3.1.6 fsspec==2026.9.0; \
        if ! python -W ignore -c 'import torch' 2>/dev/null; then \
            echo "This torch needs its NVIDIA packages to start; adding them."; \
            echo "For a small image, give the build TORCH_INDEX_URL (see Dockerfile)."; \
            pip install -q "$torch"; \
        fi; \
    else \
        echo "TORCH_VARIANT is cpu or cuda, got $TORCH_VARIANT" >&2; exit 1; \
    fi; \
    python -W ignore -c 'import torch; print("torch", torch.__version__)'

# Everything except torch, so that pip does not add the CUDA packages after all.
RUN grep -v '^torch==' requirements.txt > /tmp/rest.txt \
    && pip install -q -r /tmp/rest.txt \
    && rm /tmp/rest.txt

COPY engine engine
COPY glossa glossa
COPY sample_data sample_data
COPY ui ui
COPY LICENSE .

RUN useradd --create-home glossa && install -d -m 700 -o glossa -g glossa /data
USER glossa
ENV PYTHONPATH=/app \
    GLOSSA_DATA=/data
VOLUME /data

EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

# `glossa app` without its command: the code is not installed here, PYTHONPATH finds it.
ENTRYPOINT ["tini", "--", "python", "-m", "engine", "app", "--address", "0.0.0.0", "--port", "8501", "--headless"]
