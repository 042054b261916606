import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Measures } from './load-measures';

/** A process that makes load and says what it counted, one measure after the other. */
export class LoadProcess {
  readonly #child = fork(join(__dirname, 'load-measures.ts'), { execArgv: ['--import', 'tsx'] });

  run<Name extends keyof Measures>(
    name: Name,
    ...args: Parameters<Measures[Name]>
  ): ReturnType<Measures[Name]> {
    const found = new Promise((resolve, reject) => {
      const fail = (code: number | null): void => {
        reject(new Error(`The process that makes the load ended with ${code}.`));
      };
      this.#child.once('exit', fail);
      this.#child.once('message', (message) => {
        this.#child.off('exit', fail);
        resolve(message);
      });
      this.#child.send({ name, args });
    });
    return found as ReturnType<Measures[Name]>;
  }

  stop(): void {
    this.#child.kill();
  }
}
