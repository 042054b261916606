import { createHash } from 'node:crypto';
import { Controller, Get, Inject, Req, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { EnvelopeInterceptor } from '../../web/envelope';
import { Public } from '../auth/public.decorator';
import { ENV, type Env } from '../config/env';
import { version } from '../config/version';
import { pagePolicy } from './document';

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif }
  body { margin: 0 auto; max-width: 40rem; padding: 2rem 1rem }
  h1 { font-size: 1.5rem; line-height: 1.2 }
  li { padding: .25rem 0 }
`;
/** The page runs nothing and loads nothing; its one style is known by its hash. */
const POLICY = pagePolicy(`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`);

interface ServiceInfo {
  readonly name: string;
  readonly version: string;
  readonly docs: string | null;
  readonly health: { readonly live: string; readonly ready: string };
}

/** For people and programs that open the address of the service: what this is, and where to go on. */
@Public(true)
@ApiExcludeController()
@UseInterceptors(EnvelopeInterceptor)
@Controller()
export class RootController {
  constructor(@Inject(ENV) private readonly env: Env) {}

  /** A page, where that is preferred, else JSON. */
  @Get()
  root(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): ServiceInfo | StreamableFile {
    const health = { live: '/health/live', ready: '/health/ready' };
    const info = { name: 'Tenantry', version, docs: this.env.DOCS === 'on' ? '/docs' : null, health };
    response.vary('Accept');
    if (request.accepts(['json', 'html']) !== 'html') return info;
    response.setHeader('Content-Security-Policy', POLICY);
    return new StreamableFile(Buffer.from(rootPage(info)), { type: 'text/html; charset=utf-8' });
  }
}

/** Links are relative: a proxy may serve it below a path. */
function rootPage({ name, docs, health }: ServiceInfo): string {
  const links = {
    ...(docs !== null && {
      'API documentation (Swagger UI)': docs,
      'OpenAPI document as JSON': `${docs}/openapi.json`,
      'OpenAPI document as YAML': `${docs}/openapi.yaml`,
    }),
    'Health: the process runs': health.live,
    'Health: requests can be served': health.ready,
  };
  const items = Object.entries(links).map(
    ([text, path]) => `<li><a href="${path.slice(1)}">${text}</a></li>\n`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${name} ${version}</h1>
<p>Departments and tenants for many companies. This is a JSON API; every call needs an access token.</p>
<ul>
${items.join('')}</ul>
</body>
</html>
`;
}
