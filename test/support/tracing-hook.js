/* What OpenTelemetry does to a process before anything else is loaded, in short: names spans after routes, and tells them in answers. */
const { AsyncLocalStorage } = require('node:async_hooks');
const http = require('node:http');
const express = require('express');

globalThis[Symbol.for('opentelemetry.js.api.1')] = {};

const spans = new AsyncLocalStorage();
const { emit } = http.Server.prototype;
http.Server.prototype.emit = function (event, ...args) {
  const go = () => emit.call(this, event, ...args);
  return event === 'request' ? spans.run({ name: 'none' }, go) : go();
};

const { dispatch } = express.Route.prototype;
express.Route.prototype.dispatch = function (request, response, next) {
  spans.getStore().name = `${request.method} ${this.path}`;
  dispatch.call(this, request, response, next);
};

const { writeHead } = http.ServerResponse.prototype;
http.ServerResponse.prototype.writeHead = function (...args) {
  this.setHeader('X-Span', spans.getStore()?.name ?? 'lost');
  return writeHead.apply(this, args);
};
