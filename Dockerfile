# Two stages: build with the development packages, run without them. Node.js 24 is the LTS version; 20.20 is the oldest that works.
FROM node:24-bookworm-slim AS build
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends tini
COPY package.json package-lock.json ./
COPY src/server/package.json ./src/server/
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json declarations.mjs ./
COPY src ./src
# Types, sources and source maps of packages are two fifths of them, and nothing reads them.
RUN npm run build && npm prune --omit=dev && \
  find node_modules -type f '(' -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' ')' -delete && chown node dist
# Compiles what a start loads. Node.js keeps that for each user apart, readable for its owner alone; in the image that is root.
USER node
RUN NODE_COMPILE_CACHE=/app/dist/.compiled node -r mysql2 -r pg dist/server/cli/main.js openapi > /dev/null && \
  chmod -R a+rX dist/.compiled

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# The default DATABASE_URL is a file in ./data. It is not set here, because DATABASE_URL_FILE must not stand beside it.
RUN mkdir /data && chown node:node /data && ln -s /data data
COPY --from=build /usr/bin/tini-static /usr/local/bin/tini
COPY --from=build /app/package.json ./
COPY --from=build /app/src/server/package.json ./src/server/
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Process 1 gets no signal that it does not ask for, and must bury the children of others: tini does both from the first moment.
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/server/main.js"]
