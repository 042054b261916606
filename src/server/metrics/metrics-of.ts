import type { Env } from '../config/env';
import type * as ServiceMetricsFile from './service-metrics';

/** What counts, if anybody wants to read it; else nothing of it is loaded. */
export function metricsOf({ METRICS_PORT }: Env): ServiceMetricsFile.ServiceMetrics | undefined {
  if (METRICS_PORT === undefined) return undefined;
  const { ServiceMetrics } = require('./service-metrics') as typeof ServiceMetricsFile;
  return new ServiceMetrics();
}
