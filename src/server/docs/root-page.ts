import { createHash } from 'node:crypto';

/** What the service tells of itself. */
export abstract class ServiceInfo {
  abstract readonly name: string;
  abstract readonly version: string;
  /** The path of Swagger UI; null where it is off. */
  abstract readonly docs: string | null;
  abstract readonly health: { readonly live: string; readonly ready: string };
}

export function serviceInfo(version: string, hasDocs: boolean): ServiceInfo {
  return {
    name: 'Tenantry',
    version,
    docs: hasDocs ? '/docs' : null,
    health: { live: '/health/live', ready: '/health/ready' },
  };
}

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif }
  body { margin: 0 auto; max-width: 40rem; padding: 2rem 1rem }
  h1 { font-size: 1.5rem; line-height: 1.2 }
  li { padding: .25rem 0 }
`;

/** The page runs nothing and loads nothing; its one style is known by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What people see who open the address of the service. Links are relative: a proxy may serve it below a path. */
export function rootPage({ name, version, docs, health }: ServiceInfo): string {
  const documents = docs === null ? '' : documentLinks(docs);
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
${documents}${link(health.live, 'Health: the process runs')}${link(health.ready, 'Health: requests can be served')}</ul>
</body>
</html>
`;
}

function documentLinks(docs: string): string {
  return [
    link(docs, 'API documentation (Swagger UI)'),
    link(`${docs}/openapi.json`, 'OpenAPI document as JSON'),
    link(`${docs}/openapi.yaml`, 'OpenAPI document as YAML'),
  ].join('');
}

function link(path: string, text: string): string {
  return `<li><a href="${path.slice(1)}">${text}</a></li>\n`;
}
