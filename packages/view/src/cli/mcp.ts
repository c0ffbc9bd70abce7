/** The command `kintsugi mcp pins`: it compares the tools of MCP servers with their pinned definitions. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { visible } from "../text/Escape.ts"
import { Failed } from "./failure.ts"
import { load, type Named, parse, valueAt } from "./loading.ts"
import { emphasis, print } from "./terminal.ts"
import { shown } from "./writing.ts"

/**
 * The part of an MCP connection that this command uses. It is declared here, because `@kintsugi/interop` is an optional peer dependency.
 */
interface Connection {
  readonly name: string
  readonly pins: Effect.Effect<ReadonlyArray<PinnedTool>, Error>
  readonly acceptPins: (tools?: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, Error>
}

interface PinnedTool {
  readonly tool: string
  readonly state: "same" | "changed" | "new" | "gone"
  readonly before?: unknown
  readonly after?: unknown
}

const interop = "@kintsugi/interop/Mcp"

const resolves = (from: string): boolean => Result.isSuccess(Result.try(() => createRequire(from).resolve(interop)))

/** Whether `@kintsugi/interop` is installed, for the module of the user or for this program. */
export const IsInteropInstalled = Context.Reference<(file: string) => boolean>(
  "@kintsugi/view/cli/mcp/IsInteropInstalled",
  {
    defaultValue: () => (file) => [pathToFileURL(file).href, import.meta.url].some(resolves)
  }
)

/** Fails with the install command if `@kintsugi/interop` is not installed. */
const demandInterop = (file: string) =>
  Effect.flatMap(IsInteropInstalled, (isInstalled) =>
    isInstalled(file)
      ? Effect.void
      : new Failed({
          message: "pins are those of @kintsugi/interop, which is not installed: npm install @kintsugi/interop"
        })
  )

const isConnection = (value: unknown): value is Connection =>
  Predicate.hasProperty(value, "acceptPins") && Predicate.hasProperty(value, "pins")

/** Runs the effect that a module exports, and gives its MCP connections. */
const connectionsOf = ({ file, name = "default" }: Named) =>
  Effect.gen(function* () {
    yield* demandInterop(file)
    const where = `'${name}' in ${yield* shown(file)}`
    const [value, isThere] = valueAt(yield* load(file), name)
    if (!isThere || !Effect.isEffect(value)) {
      return yield* new Failed({ message: `${where} is no effect that gives connections of Mcp.connect` })
    }
    // cast: the effect needs a scope alone, because the module must provide all other services
    const given = yield* (value as Effect.Effect<unknown, unknown, Scope.Scope>).pipe(
      Effect.mapError((error) => new Failed({ message: `${where} fails: ${said(error)}` }))
    )
    const all: ReadonlyArray<unknown> = Array.isArray(given) ? given : [given]
    if (all.length === 0 || !all.every(isConnection)) {
      return yield* new Failed({ message: `${where} gives no connection of Mcp.connect` })
    }
    return all
  })

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const failed = (error: Error) => new Failed({ message: error.message })

const servers = Argument.Path("servers").pipe(
  Argument.withMetavar("<file#name>"),
  Argument.withDescription(
    "A module and the name of one of its exports: an effect that gives a connection of Mcp.connect, or a list of them, with the store of pins that the program uses. Without a name it is the default export"
  )
)

/** Runs a part of the command for each connection, and prints its lines. */
const each = (given: string, work: (connection: Connection) => Effect.Effect<ReadonlyArray<string>, Error>) =>
  Effect.gen(function* () {
    const connections = yield* connectionsOf(yield* parse(given))
    const emphasise = yield* emphasis
    for (const connection of connections) {
      const lines = yield* Effect.mapError(work(connection), failed)
      yield* print([emphasise(visible(connection.name)), ...lines, ""].join("\n"))
    }
  }).pipe(Effect.scoped)

const list = Command.make("list", { servers }, (given) =>
  each(given.servers, ({ pins }) =>
    Effect.map(pins, (tools) => tools.map(({ state, tool }) => `  ${state.padEnd(7)}  ${line(tool)}`))
  )
).pipe(Command.withDescription("Each tool: same as its pin, changed, new, or gone"))

const difference = Command.make("difference", { servers }, (given) =>
  each(given.servers, ({ pins }) =>
    Effect.map(pins, (tools) => {
      const others = tools.filter(({ state }) => state !== "same")
      return others.length === 0 ? ["  no difference"] : others.flatMap(differenceOf)
    })
  )
).pipe(
  Command.withDescription("What has changed of each tool: the pinned definition, and the one that the server has now")
)

const accept = Command.make(
  "accept",
  {
    servers,
    tools: Argument.String("tool").pipe(
      Argument.withDescription("The tools to take, by their names at the server; all by default"),
      Argument.variadic()
    )
  },
  (given) =>
    each(given.servers, ({ acceptPins }) =>
      Effect.map(acceptPins(given.tools.length === 0 ? undefined : given.tools), (taken) =>
        taken.length === 0 ? ["  nothing to accept"] : taken.map((tool) => `  accepted  ${line(tool)}`)
      )
    )
).pipe(Command.withDescription("Pins what the server has now. Suspended runs that wait for such a tool ask again"))

/** A text of a server in one line, so that it cannot look like a line about another tool. */
const line = (text: string): string => visible(text).replaceAll("\n", " ")

/** The lines for the fields of a definition that differ: the pinned value, and the current value. */
const differenceOf = ({ after, before, state, tool }: PinnedTool): ReadonlyArray<string> => {
  const fields = [...new Set([...fieldsOf(before), ...fieldsOf(after)])]
  const lines = fields.flatMap((field) => {
    const [old, next] = [fieldAt(before, field), fieldAt(after, field)]
    if (old === next) return []
    const signed = (sign: string, value: string | undefined) =>
      value === undefined ? [] : [`    ${sign} ${line(field)}: ${line(value)}`]
    return [...signed("-", old), ...signed("+", next)]
  })
  return [`  ${state}  ${line(tool)}`, ...lines]
}

const fieldsOf = (definition: unknown): ReadonlyArray<string> =>
  // Mutant `["Stryker was here"]` survives: a field that neither definition has is not shown
  Predicate.isObject(definition) ? Object.keys(definition) : []

/** The JSON of a field, with the keys of objects in order, so that equal values have equal texts. */
const fieldAt = (definition: unknown, field: string): string | undefined =>
  Predicate.hasProperty(definition, field) ? JSON.stringify(ordered(definition[field])) : undefined

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      // Mutant `a <= b` survives: an object has each key once
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, ordered(field)])
  )
}

const pins = Command.make("pins").pipe(
  Command.withDescription(
    "The tools of MCP servers beside their pins. The module is imported, its effect is run, and the servers are asked for their tools"
  ),
  Command.withSubcommands([list, difference, accept]),
  Command.withExamples([
    {
      command: "kintsugi mcp pins list servers.ts#shop",
      description: "the tools of a server, and whether they have changed"
    },
    { command: "kintsugi mcp pins difference servers.ts#shop", description: "both definitions of what has changed" },
    { command: "kintsugi mcp pins accept servers.ts#shop search", description: "takes the new definition of one tool" }
  ])
)

export const command = Command.make("mcp").pipe(
  Command.withDescription("Tools of MCP servers"),
  Command.withShortDescription("tools of MCP servers: what has changed, and what is taken"),
  Command.withSubcommands([pins])
)
