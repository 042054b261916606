import {
  Controller,
  Injectable,
  Post,
  RequestTimeoutException,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { race, type Observable } from 'rxjs';
import { QuotaDto, QuotaService, TenantryModule, UsesQuota } from '../../src/index';
import { HeaderResolver, Host, system } from '../support/host';
import { deferred, until } from '../support/until';

describe('an interceptor of a host that waits no longer', () => {
  const [tooLate, finish] = [deferred(), deferred()];
  let calls = 0;

  @Injectable()
  class TimeoutInterceptor implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      const timeout = tooLate.promise.then(() => {
        throw new RequestTimeoutException();
      });
      return race(next.handle(), timeout);
    }
  }

  @Controller('reports')
  class ReportController {
    @UsesQuota('report')
    @Post('done')
    async done(): Promise<void> {
      calls += 1;
      await finish.promise;
    }

    @UsesQuota('report')
    @Post('failed')
    async failed(): Promise<void> {
      calls += 1;
      await finish.promise;
      throw new Error('no report');
    }
  }

  it('a timeout of the host leaves a handler with @UsesQuota to end, and to pay or not', async () => {
    const quotaKinds = [{ name: 'report', defaultTotal: 9 }];
    const host = await Host.start({
      imports: [
        TenantryModule.forRoot({
          principalResolver: new HeaderResolver(),
          userDirectory: 'none',
          quotaKinds,
        }),
      ],
      controllers: [ReportController],
      providers: [{ provide: APP_INTERCEPTOR, useClass: TimeoutInterceptor }],
    });
    const report = async (): Promise<QuotaDto | undefined> =>
      (await host.app.get(QuotaService).of(system())).find(({ kind }) => kind === 'report');
    const asked = ['done', 'failed'].map((path) => host.as().post(`/reports/${path}`, undefined));
    await until(() => calls === 2);
    tooLate.resolve();
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([408, 408]);
    expect(await report()).toMatchObject({ used: 0, reserved: 2 });
    finish.resolve();
    await until(async () => (await report())?.reserved === 0);
    expect(await report()).toMatchObject({ used: 1, available: 8 });
    await host.stop();
  });
});
