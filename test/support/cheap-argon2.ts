// By its file: Jest brings this one for the package's name.
import * as argon2 from '@node-rs/argon2/index.js';

/**
 * Real argon2 at its least cost: the passwords of tests would otherwise take a minute of CPU. The cost that the service asks for is
 * a unit test of its own, which does without this.
 */
export const hash: typeof argon2.hash = (password) => argon2.hash(password, { memoryCost: 64, timeCost: 1 });
export const { verify } = argon2;
