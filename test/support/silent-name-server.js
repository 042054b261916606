/** Loaded before the service: no name server answers any question until it is cancelled. */
const { Resolver } = require('node:dns').promises;

const waiting = new WeakMap();

for (const method of ['resolve4', 'resolve6'])
  Resolver.prototype[method] = function ask() {
    return new Promise((_, reject) => {
      waiting.set(this, [...(waiting.get(this) ?? []), reject]);
    });
  };

Resolver.prototype.cancel = function cancel() {
  for (const reject of waiting.get(this) ?? []) reject(new Error('cancelled'));
};
