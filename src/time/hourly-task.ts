import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';

const HOUR_MS = 60 * 60 * 1000;

/** Something that is done every hour while the application runs; when it fails, the next hour tries again. */
export abstract class HourlyTask implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.run().catch(() => undefined), HOUR_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  abstract run(): Promise<void>;
}
