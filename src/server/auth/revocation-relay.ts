import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AccountStateCache } from './account-state-cache';
import { DomainEvents } from '../../database/domain-events';
import { TenantEvent } from '../../tenant/tenant.events';
import { TenantStateCache } from '../../tenant/tenant-state-cache';
import type { Revocation } from './revocation';
import { RevocationChannel } from './revocation-channel';

export const REVOCATION_REDIS = Symbol('address of the Redis that carries revocations');

/**
 * Tells the other replicas what was committed here, so that they forget what they remember of it, and forgets what they
 * tell. It only makes it faster: what is remembered is five seconds old at most, whether or not anything arrives.
 */
@Injectable()
export class RevocationRelay implements OnModuleInit, OnModuleDestroy {
  #channel: RevocationChannel | undefined;

  constructor(
    @Inject(REVOCATION_REDIS) private readonly url: string,
    private readonly subjects: AccountStateCache,
    private readonly tenants: TenantStateCache,
    private readonly events: DomainEvents,
  ) {}

  onModuleInit(): void {
    const channel = new RevocationChannel(this.url, this);
    this.#channel = channel;
    this.subjects.onForget((subject) => {
      channel.say({ kind: 'account', key: subject });
    });
    this.events.on(TenantEvent, ({ tenantId }) => {
      channel.say({ kind: 'tenant', key: tenantId });
    });
  }

  heard({ kind, key }: Revocation): void {
    if (kind === 'tenant') this.tenants.forget(key);
    else this.subjects.drop(key);
  }

  missed(): void {
    this.tenants.forgetAll();
    this.subjects.dropAll();
  }

  onModuleDestroy(): void {
    this.#channel?.close();
  }
}
