import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { request as anyRequest, type Request, type Response } from 'express';
import { failure } from '../http/envelope';
import { languageOf, type Language } from '../http/language';
import { noteRefusal } from '../http/outcome';
import { requestIdOf } from '../http/request-id';
import { SECURITY_HEADERS } from '../http/security-headers';
import { StatusPolicy } from '../http/status-policy';
import { AdmissionErrors } from './admission.errors';

const { row } = AdmissionErrors.OVERLOADED;
const TYPE = 'application/json; charset=utf-8';
const RETRY_AFTER = String(row.retryAfter);
const ID = '<id>';
const MOST_SPOKEN = 100;

/** An envelope up to the request's id, and from there on. */
interface Text {
  readonly before: string;
  readonly after: string;
  /** In bytes, without the id. */
  readonly length: number;
}

/** The refusal of an overloaded service, made beforehand but for the request's id. */
@Injectable()
export class ShortRefusal {
  readonly #texts: Readonly<Record<Language, Text>> = { zh: textIn('zh'), en: textIn('en') };
  /** By what clients say of their languages. */
  readonly #spoken = new Map<string, Text>();
  readonly #status: number;

  constructor(statuses: StatusPolicy) {
    this.#status = statuses.statusFor(row.status);
  }

  send(request: Request, response: Response): void {
    if (response.headersSent) return;
    const requestId = requestIdOf(request);
    const { before, after, length } = this.#textFor(request.headers['accept-language']);
    // For the log, where the request has come that far.
    if ((response as Partial<Response>).locals) noteRefusal(response, row);
    response.statusCode = this.#status;
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
    response.setHeader('Content-Type', TYPE);
    response.setHeader('Content-Length', length + requestId.length);
    response.setHeader('Retry-After', RETRY_AFTER);
    response.setHeader('X-Request-Id', requestId);
    response.end(before + requestId + after);
  }

  /** A negotiation costs as much as all the rest of a refusal, and there are few different headers. */
  #textFor(acceptLanguage: string | undefined): Text {
    if (acceptLanguage === undefined) return this.#texts.zh;
    let text = this.#spoken.get(acceptLanguage);
    if (text) return text;
    if (this.#spoken.size >= MOST_SPOKEN) this.#spoken.clear();
    text = this.#texts[languageOf(asRequest({ 'accept-language': acceptLanguage }))];
    this.#spoken.set(acceptLanguage, text);
    return text;
  }
}

/** Express has not seen the real one yet, and may not have given it its methods. */
function asRequest(headers: IncomingHttpHeaders): Request {
  return Object.assign(Object.create(anyRequest) as Request, { headers });
}

function textIn(language: Language): Text {
  const [before = '', after = ''] = JSON.stringify(failure(AdmissionErrors.OVERLOADED(), ID, language)).split(
    ID,
  );
  return { before, after, length: Buffer.byteLength(before + after) };
}
