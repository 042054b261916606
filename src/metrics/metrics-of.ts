import { createRequire } from 'node:module';
import type { Env } from '../config/env';
import type * as ServiceMetricsFile from './service-metrics';

const load = createRequire(__filename);

/** What counts, if anybody wants to read it; else nothing of it is loaded. */
export function metricsOf({ METRICS_PORT }: Env): ServiceMetricsFile.ServiceMetrics | undefined {
  if (METRICS_PORT === undefined) return undefined;
  const { ServiceMetrics } = load('./service-metrics') as typeof ServiceMetricsFile;
  return new ServiceMetrics();
}
