#!/usr/bin/env node
import '../config/compile-cache';
import 'reflect-metadata';
import { CommanderError } from 'commander';
import { createProgram } from './program';
import { UsageError } from './values';

const [REFUSED, BAD_USAGE] = [1, 2];

const program = createProgram();
const [first = '', second = '', ...rest] = process.argv.slice(2);
const isTwoWords = program.commands.some((command) => command.name() === `${first}:${second}`);

void program
  // `user unlock` is `user:unlock`.
  .parseAsync(isTwoWords ? [`${first}:${second}`, ...rest] : process.argv.slice(2), { from: 'user' })
  .then(
    () => Number(process.exitCode),
    (error: unknown) => {
      // Commander has printed its own errors, and the help that was asked for.
      if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_USAGE;
      process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
      return error instanceof UsageError ? BAD_USAGE : REFUSED;
    },
  )
  // Exits when all is written: a pipe may be slow.
  .then((code) => process.stdout.write('', () => process.exit(code)));
