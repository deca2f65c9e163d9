# The service without its embedded database: it needs DATABASE_URL. docs/operations.md says how to run it;
# scripts/image-without-docker.mjs runs these same steps where there is no Docker.

FROM node:24.11.1-bookworm-slim AS base
USER node
# Made by hand: WORKDIR alone would make it root's.
RUN mkdir -p /home/node/app /home/node/data /home/node/workspaces
WORKDIR /home/node/app

FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --prefer-offline
COPY nest-cli.json tsconfig.json .swcrc ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --prefer-offline

FROM base
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    BGC_DATA_DIR=/home/node/data \
    BGC_WORKSPACES_DIR=/home/node/workspaces
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY --from=packages /home/node/app/node_modules ./node_modules
COPY --from=build /home/node/app/dist ./dist
VOLUME ["/home/node/data", "/home/node/workspaces"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
