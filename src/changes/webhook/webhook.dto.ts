import { CHANGE_KINDS, OPERATIONS, type ChangeKind } from '../../journal/change-log';
import { ChangeDto } from '../../web/change.dto';
import { isText } from '../../web/field-rules';
import { ChoiceField, IfSent, optional, required } from '../../web/fields';
import { IdField, RequiredIdField } from '../../web/id-fields';
import { schemaRef } from '../../web/schema-names';
import { ReadOnlyFields } from '../../web/unknown-names';
import { Choice, described, Int32, Int64, Kinds, TimeText } from '../../web/view-fields';

const MAX_URL = 2048;

/** An address without a user name or a password in it, which everybody who may read it would see. */
function isWebAddress(value: unknown): boolean {
  if (!isText(value, MAX_URL) || !URL.canParse(value)) return false;
  const { protocol, username, password, hostname } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hostname !== '';
}

function UrlField(): PropertyDecorator {
  return required({
    schema: { type: 'string', format: 'uri', maxLength: MAX_URL },
    read: (value) => (typeof value === 'string' ? value.trim() : value),
    check: isWebAddress,
    zh: `必须为不超过 ${MAX_URL} 个字符的 http(s) 地址，且不含用户名和密码`,
    en: `must be an http(s) address of at most ${MAX_URL} characters, without a user name and a password`,
  });
}

function KindsField(): PropertyDecorator {
  const list = CHANGE_KINDS.join(', ');
  const isKind = (value: unknown) => CHANGE_KINDS.includes(value as ChangeKind);
  return optional({
    schema: { type: 'array', minItems: 1, items: { type: 'string', enum: [...CHANGE_KINDS] } },
    check: (value) => Array.isArray(value) && value.length > 0 && value.every(isKind),
    zh: `必须为非空列表，可选值：${list}`,
    en: `must be a list of at least one of ${list}`,
  });
}

const MessageType = described({
  type: 'string',
  pattern: `^(?:(?:${CHANGE_KINDS.join('|')})[.](?:${OPERATIONS.join('|')})|ping)$`,
  example: 'dept.moved',
});
const Instant = described({ type: 'string', format: 'date-time' });
const MessageData = described({
  oneOf: [
    schemaRef(ChangeDto),
    {
      type: 'object',
      required: ['webhookId'],
      properties: { webhookId: { type: 'integer', format: 'int64' } },
    },
  ],
});

/** What a client may decide about a webhook, its address aside. */
@ReadOnlyFields([
  ...(['webhookId', 'reason'] satisfies (keyof WebhookDto)[]),
  ...(['createBy', 'createTime', 'updateBy', 'updateTime'] satisfies (keyof WebhookDto)[]),
])
class WebhookChoicesDto {
  /** Not sent: all. `tenant` is about the tenants at and below your own. @example ["dept", "tenant"] */
  @KindsField()
  kinds?: ChangeKind[];
  /** `0` sends, `1` does not. @example "0" */
  @ChoiceField('0', '1')
  status?: string;
}

/** What a client decides about a webhook. */
export class CreateWebhookDto extends WebhookChoicesDto {
  /**
   * `https`; outside of production also `http`. Its name must lead to public addresses.
   * @example https://receiver.example/hooks
   */
  @UrlField()
  url!: string;
}

/** A webhook as it shall be: fields not sent are reset; the secret stays. */
export class UpdateWebhookDto extends CreateWebhookDto {
  /** @example 1 */
  @RequiredIdField()
  webhookId!: number;
}

/** What shall change of a webhook; null resets a field. The secret stays. */
export class PatchWebhookDto extends WebhookChoicesDto {
  /** @example https://receiver.example/hooks */
  @IfSent()
  @UrlField()
  url?: string;
  /** As in the path, or not sent. */
  @IdField()
  webhookId?: number;
}

/** A new secret of a webhook. It is shown only here. */
export class WebhookSecretDto {
  /** The key of the signatures. @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9r8GKYqrTwk= */
  secret!: string;
}

/** A new webhook. The secret is shown only here, and not in the answer to a repeated request. */
export class CreatedWebhookDto {
  /** @example 1 */
  @Int64()
  id!: number;
  /**
   * The key of the signatures. Not in the answer to a repeated request.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9r8GKYqrTwk=
   */
  secret?: string;
}

/** A webhook as it is read. */
export class WebhookDto {
  /** @example 1 */
  @Int64()
  webhookId!: number;
  /** @example https://receiver.example/hooks */
  url!: string;
  @Kinds()
  kinds!: ChangeKind[];
  /** `0` sends, `1` does not. */
  @Choice('0', '1')
  status!: string;
  /** Why the service has set `status` to `1`; null when it has not. */
  reason!: string | null;
  /** @example admin */
  createBy!: string;
  /** @example "2026-01-01 09:00:00" */
  @TimeText()
  createTime!: string;
  /** Empty when it was never changed. */
  updateBy!: string;
  /** Null when it was never changed. */
  @TimeText()
  updateTime!: string | null;
}

/** One try to send one message. */
export class DeliveryDto {
  /** The header `webhook-id`, the same in every try of a message. @example msg_000000_42_0_1 */
  messageId!: string;
  /** @example 1 */
  @Int32()
  attempt!: number;
  /** Of the answer; null without one. @example 204 */
  @Int32()
  statusCode!: number | null;
  /** Why there is no answer, such as `TIMEOUT`, `ECONNREFUSED` or `ADDRESS_NOT_PUBLIC`. */
  error!: string | null;
  /** @example 35 */
  @Int32()
  durationMs!: number;
  @TimeText()
  time!: string;
}

/** A message to a webhook. */
export class WebhookMessageDto {
  /** The kind and the operation of a change, or `ping`. */
  @MessageType()
  type!: string;
  /** When it happened. */
  @Instant()
  timestamp!: string;
  /** The change, or the webhook that is pinged. */
  @MessageData()
  data!: ChangeDto | { webhookId: number };
}
