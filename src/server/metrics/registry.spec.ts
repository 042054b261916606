import { Counter, Histogram, Observed } from './registry';

describe('the text that Prometheus reads', () => {
  it('has a line for each set of labels, with what is special escaped', () => {
    const counter = new Counter('requests_total', 'Requests.');
    counter.with({ route: '/a/:id', status: 200 }).value += 2;
    counter.with({ route: '/a/:id', status: 200 }).value += 1;
    counter.with({ route: 'a"b\\c\nd', status: 404 }).value += 1;
    expect(counter.text().split('\n')).toEqual([
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{route="/a/:id",status="200"} 3',
      'requests_total{route="a\\"b\\\\c\\nd",status="404"} 1',
    ]);
  });

  it('asks for what is observed only when it is read', () => {
    const read = jest.fn(() => [[{}, 1.5]] as const);
    const gauge = new Observed('load', 'Load.', 'gauge', read);
    expect(read).not.toHaveBeenCalled();
    expect(gauge.text()).toBe('# HELP load Load.\n# TYPE load gauge\nload 1.5');
  });

  it('puts durations into every bucket that is large enough', () => {
    const histogram = new Histogram('wait_seconds', 'Waits.');
    for (const seconds of [0, 0.001, 0.0011, 10, 60]) histogram.with({ a: 'b' }).observe(seconds);
    const lines = histogram.text().split('\n');
    expect(lines).toContain('wait_seconds_bucket{a="b",le="0.001"} 2');
    expect(lines).toContain('wait_seconds_bucket{a="b",le="0.0025"} 3');
    expect(lines).toContain('wait_seconds_bucket{a="b",le="10"} 4');
    expect(lines.slice(-3)).toEqual([
      'wait_seconds_bucket{a="b",le="+Inf"} 5',
      'wait_seconds_sum{a="b"} 70.0021',
      'wait_seconds_count{a="b"} 5',
    ]);
  });
});
