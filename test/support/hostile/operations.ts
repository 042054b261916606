import { readDocument } from '../conformance';

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
}

/** An operation of the document, with what it takes. */
export interface HostileTarget {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** By content type; none when it takes no body. */
  readonly bodies: readonly {
    readonly type: string;
    readonly schema: JsonSchema;
    readonly example?: string;
  }[];
}

interface Raw {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: string }>>;
  };
}

/** All operations of the committed document. */
export function hostileTargets(): HostileTarget[] {
  return Object.entries(readDocument().paths).flatMap(([path, item]) =>
    Object.entries(item as unknown as Record<string, Raw>).map(([method, raw]) => ({
      operationId: raw.operationId,
      method: method.toUpperCase(),
      path,
      parameters: raw.parameters ?? [],
      bodies: Object.entries(raw.requestBody?.content ?? {}).map(([type, body]) => ({ type, ...body })),
    })),
  );
}

const schemas = readDocument().components.schemas as Readonly<Record<string, JsonSchema>>;

/** The schema itself, where a reference stands for it. */
export function resolved(schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : schemas[name]!;
}
