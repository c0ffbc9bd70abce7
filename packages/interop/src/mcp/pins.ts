/** Pins record the accepted definition of each tool of a server. */
import type * as Redaction from "@kintsugi/core/Redaction"
import * as Tool from "@kintsugi/core/Tool"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Schema from "effect/Schema"
import { redacted } from "./result.ts"

/**
 * The accepted definition of a tool. The digest is made of the configured name of the server, the tool's name and its definition; the order
 * of keys does not matter. `replaced` has the digests of the definitions that this one replaced, newest first.
 *
 * @hidden
 */
export interface Pin extends Schema.Schema.Type<typeof OnePin> {}

const OnePin = Schema.Struct({
  tool: Schema.String,
  digest: Schema.String,
  definition: Schema.Json,
  replaced: Schema.Array(Schema.String)
})

/**
 * A store for the pins of servers, by their configured names. `read` gives `undefined` for a server without pins; then the first list of
 * its tools is pinned.
 *
 * @hidden
 */
export interface PinStore {
  readonly read: (server: string) => Effect.Effect<ReadonlyArray<Pin> | undefined, unknown>
  readonly write: (server: string, pins: ReadonlyArray<Pin>) => Effect.Effect<void, unknown>
}

/**
 * The store of pins that `connect` uses. By default each connection keeps its pins in memory. `layerPins` provides a store that lasts, and
 * any other object with these two functions will do.
 */
export const Pins: Context.Reference<PinStore | undefined> = Context.Reference<PinStore | undefined>(
  "@kintsugi/interop/Mcp/Pins",
  { defaultValue: () => undefined }
)

/** Makes a store that keeps pins in memory, for one connection. */
export const memory = (): PinStore => {
  const all = new Map<string, ReadonlyArray<Pin>>()
  return {
    read: (server) => Effect.sync(() => all.get(server)),
    write: (server, pins) => Effect.sync(() => void all.set(server, pins))
  }
}

/** The stored form of pins. It has a version, so that a later format can be told from this one. */
const Stored = Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), pins: Schema.Array(OnePin) }))

const decode = Schema.decodeUnknownEffect(Stored)
const encode = Schema.encodeUnknownEffect(Stored)

const keyOf = (server: string): string => `kintsugi/mcp-pins/${server}`

/** Stores pins in a `KeyValueStore`, such as a folder of files or a database. If stored pins cannot be read, listing the tools fails. */
export const layerPins: Layer.Layer<never, never, KeyValueStore.KeyValueStore> = Layer.effect(
  Pins,
  Effect.map(KeyValueStore.KeyValueStore, (store): PinStore => ({
    read: (server) =>
      Effect.flatMap(store.get(keyOf(server)), (text) =>
        text === undefined ? Effect.undefined : Effect.map(decode(text), ({ pins }) => pins)
      ),
    write: (server, pins) => Effect.flatMap(encode({ version: 1, pins }), (text) => store.set(keyOf(server), text))
  }))
)

/**
 * The definition of a tool that a pin compares: everything that a model or a person reads of it, and the hints about its side effects.
 * Absent hints get the protocol's defaults.
 */
export const definitionOf = (tool: McpSchema.Tool, redact: typeof Redaction.own): Schema.Json => {
  const { annotations, description, inputSchema, outputSchema, title } = tool
  const {
    destructiveHint = true,
    idempotentHint = false,
    openWorldHint = true,
    readOnlyHint = false
  } = annotations ?? {}
  const name = annotations?.title
  const hints = { destructiveHint, idempotentHint, openWorldHint, readOnlyHint }
  return redacted(
    // cast: the schemas were received as JSON
    {
      description: description ?? title ?? "",
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      annotations: name === undefined ? hints : { ...hints, title: name }
    } as Schema.Json,
    redact
  )
}

export const digestOf = (server: string, tool: string, definition: Schema.Json): Effect.Effect<string> =>
  Tool.digestOf({ server, tool, definition })
