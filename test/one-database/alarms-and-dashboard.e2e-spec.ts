import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { ApiClient } from '../../src/server/testing';
import { readExposition } from '../support/exposition';
import { freePort } from '../support/free-port';
import { ServiceUnderTest } from '../support/service-under-test';
import { until } from '../support/until';

const ROOT = join(__dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}
interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const { rules } = (load(read('deploy/prometheus/rules.yml')) as Rules).groups[0]!;
const { panels } = JSON.parse(read('deploy/grafana/tenantry.json')) as Dashboard;
const USES = [
  ...rules.map(({ alert, expr, annotations }) => ({ name: alert, expr, shown: annotations.summary })),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ name: title, expr, shown: legendFormat })),
  ),
];

/** Prometheus gives them to every series. */
const FROM_PROMETHEUS = ['instance', 'job'];
const FROM_TRAFFIC = ['status', 'reason'];
/** Prometheus makes the first one itself, and a primary the other one. */
const OF_OTHERS = ['up', 'tenantry_worker_deaths_total'];

const labelsIn = (text: string) =>
  new Map([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]));

describe('the alarms and the dashboard of deploy/', () => {
  const scraped: { readonly metric: string; readonly labels: Map<string, string> }[] = [];

  beforeAll(async () => {
    const METRICS_PORT = String(await freePort());
    const service = await ServiceUnderTest.start({ METRICS_PORT });
    const scraper = new ApiClient(`http://127.0.0.1:${METRICS_PORT}`);
    await service.anonymous.get('/health/ready');
    await service.anonymous.post('/auth/login', { username: 'nobody', password: 'wrong-password' });
    let samples = new Map<string, number>();
    await until(async () => {
      samples = readExposition((await scraper.get('/metrics')).text);
      return samples.get('tenantry_http_requests_in_flight') === 0;
    });
    for (const sample of samples.keys())
      scraped.push({ metric: sample.split('{', 1)[0]!, labels: labelsIn(sample) });
    scraper.close();
    await service.stop();
  });

  it.each(USES)('alarms and dashboard are made of metrics that exist: $name', ({ expr, shown }) => {
    const selectors = [...expr.matchAll(/\b((?:tenantry|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g)];
    expect(selectors).not.toEqual([]);
    const known = new Set(FROM_PROMETHEUS);
    for (const [, metric = '', conditions = ''] of selectors) {
      if (OF_OTHERS.includes(metric)) continue;
      const fitting = scraped.filter(({ metric: name }) => name === metric);
      expect([metric, fitting.length]).not.toEqual([metric, 0]);
      for (const { labels } of fitting) for (const label of labels.keys()) known.add(label);
      const asked = [...conditions.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
      for (const [, label = '', operator, value = ''] of asked) {
        if (FROM_PROMETHEUS.includes(label)) continue;
        expect([metric, ...fitting[0]!.labels.keys()]).toContain(label);
        if (FROM_TRAFFIC.includes(label) || operator!.startsWith('!')) continue;
        const fits = new RegExp(`^(?:${value})$`);
        expect([metric, label, fitting.some(({ labels }) => fits.test(labels.get(label) ?? ''))]).toEqual([
          ...[metric, label, true],
        ]);
      }
    }
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/, */));
    const told = [...shown.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, label]) => label!);
    for (const label of [...grouped, ...told]) expect([...known]).toContain(label);
  });

  it('every alarm is tried on series on which it goes off, and on those of a healthy service', () => {
    const { tests } = load(read('deploy/prometheus/rules.test.yml')) as RuleTests;
    const tried = (isFired: boolean) =>
      tests.flatMap(({ alert_rule_test: each }) =>
        each.filter(({ exp_alerts: { length } }) => length > 0 === isFired).map(({ alertname }) => alertname),
      );
    const names = rules.map(({ alert }) => alert);
    expect([...new Set(tried(true))].sort()).toEqual([...names].sort());
    const healthy = tests[0]!.alert_rule_test;
    expect(healthy.map(({ alertname }) => alertname).sort()).toEqual([...names].sort());
    expect(healthy.flatMap(({ exp_alerts: expected }) => expected)).toEqual([]);
  });

  it('the operations guide says of every alarm what to do', () => {
    const section = read('docs/operations.md').split('\n## Alarms\n')[1]!.split('\n## ')[0]!;
    const told = [...section.matchAll(/^\| `(Tenantry\w+)`/gm)].map(([, name]) => name);
    expect(told).toEqual(rules.map(({ alert }) => alert));
  });
});
