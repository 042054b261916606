import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import express, { type NextFunction, type Request, type Response } from 'express';
import { verify } from 'jsonwebtoken';
import { operations } from '../operations';
import {
  bodyOf,
  callerOf,
  CHECKS,
  HttpError,
  JSON_TYPES,
  key,
  NOBODY,
  requireServed,
  setCommonHeaders,
  type Caller,
  type Claims,
} from '../operations/operation';

/** The operations behind as little as there can be: Express 5, and jsonwebtoken with a KeyObject. */
const app = express().disable('x-powered-by').disable('etag');
app.use(setCommonHeaders);
app.use(express.json({ type: JSON_TYPES }));

async function signedIn({ headers: { authorization = '' } }: Request): Promise<Caller> {
  const claims = verify(authorization.slice('Bearer '.length), key, CHECKS) as unknown as Claims;
  const caller = await callerOf(claims);
  await requireServed(caller);
  return caller;
}

for (const { method, path, isPublic, handle } of operations)
  app[method](path, async (request: Request, response: Response) => {
    const reply = await handle(isPublic ? NOBODY : await signedIn(request), request);
    const body = bodyOf(reply, response);
    if (body instanceof Readable) await pipeline(body, response);
    else response.send(body);
  });

app.get('/health/ready', (_, response) => {
  response.end();
});
app.use((error: unknown, _: Request, response: Response, next: NextFunction) => {
  if (response.headersSent) next(error);
  else response.status(error instanceof HttpError ? error.status : 500).json({ error: String(error) });
});
app.listen(Number(process.env.PORT), process.env.HOST ?? '');
