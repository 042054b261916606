import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, LessThan, type EntityManager } from 'typeorm';
import { Clock } from '../time/clock';
import { UnitEntity } from './unit.entity';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

/** Writes the unit's own row in its own transaction. */
export async function recordUnit(manager: EntityManager, unitId: string): Promise<void> {
  await manager.insert(UnitEntity, { unitId, createdAt: new Date() });
}

/** Whether a unit whose COMMIT was never answered did commit. */
export async function wasCommitted(manager: EntityManager, unitId: string): Promise<boolean> {
  return manager.existsBy(UnitEntity, { unitId });
}

/** Removes the rows that nobody can ask for any more, hourly. */
@Injectable()
export class UnitLedgerCleaner implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.clean().catch(() => undefined), HOUR_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  async clean(): Promise<void> {
    const yesterday = new Date(this.clock.now().getTime() - DAY_MS);
    await this.dataSource.manager.delete(UnitEntity, { createdAt: LessThan(yesterday) });
  }
}
