/** The tools that a model may call in one turn, with the tables that guard them. A toolset takes a call and returns its settlement. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Gates } from "./callState.ts"
import { isWithinBytes } from "./attempt.ts"
import { denialOf } from "./endings.ts"
import type { Outcome } from "./outcome.ts"
import { settle as settleTool } from "./settle.ts"
import * as UnknownTool from "./unknown.ts"
import * as Call from "./call.ts"
import { meant } from "./Meant.ts"
import type { CallSite } from "./CallSite.ts"
import type { AdaptsParts, OnDemand, PutAside, ToolDefinition } from "./ToolDefinition.ts"
import type { Entry, Level } from "./callState.ts"
import type { CallCap } from "../budget/Meter.ts"
import type { PassedOn } from "../coercion/Unwrapped.ts"
import * as Message from "../data/Message.ts"
import * as Render from "../recovery/Render.ts"
import * as RunContext from "../event/RunContext.ts"
import type { Rows } from "../recovery/Node.ts"

export type { Failure, Outcome, Output } from "./outcome.ts"

/** The tools of one turn, each with its tables. */
export interface Toolset {
  readonly specs: ReadonlyArray<Message.ToolSpec>
  /** Reads the call of a tool on demand out of a call of `call_tool`; absent without such tools. */
  readonly unwrap?: OnDemand["unwrap"]
  /** The kinds of provider calls that its tools answer; absent if there are none. */
  readonly providerCalls?: ReadonlyArray<string>
  readonly entries: ReadonlyMap<string, Entry>
  readonly gates: Gates
  /** The rows for calls of tools that do not exist. */
  readonly unknown: Rows
  /** Refuses some calls of a resilient agent. */
  readonly refuses?: Refuses | undefined
  /** The tools with a pin; absent if there are none. */
  readonly pinned?: readonly [ToolDefinition, ...ReadonlyArray<ToolDefinition>]
  /** Adapts results with images and files to a model; absent if no tool gives any. */
  readonly adaptsParts?: AdaptsParts
}

/**
 * Refuses a call, and says why. `ofTool` gives another call as one of the same tool; `undefined` if it is none. `Agent.resilient` brings the
 * code along, so a bundle without it is smaller.
 */
export type Refuses = (
  site: CallSite,
  ofTool: (other: Message.ToolCall) => Message.ToolCall | undefined
) => string | undefined

/** The tables of an agent: rows by tool name, and rows for all tools. */
export interface Tables {
  readonly byTool: ReadonlyMap<string, Rows>
  readonly defaults: Rows
  /** The rows of a resilient agent. They apply after all other rows. */
  readonly resilient?: { readonly tools: Rows; readonly refuses: Refuses } | undefined
}

/** Makes the toolset of an agent. Throws a `TypeError` for two tools of the same name, and for a table of a tool that does not exist. */
export const make = (
  tools: ReadonlyArray<ToolDefinition>,
  tables: Tables,
  gates: Gates,
  putAside?: PutAside
): Toolset => {
  const entries = new Map<string, Entry>()
  const aside = putAside ?? tools.find((tool) => tool.putAside !== undefined)?.putAside
  const own = aside?.among(tools, putAside) ?? tools
  const onDemand = own.find((tool) => tool.onDemand !== undefined)?.onDemand
  const unwrap = onDemand?.unwrap ?? own.find((tool) => tool.unwrap !== undefined)?.unwrap
  const all = onDemand === undefined ? own : [...own, ...onDemand.among(own)]
  for (const tool of all) {
    if (entries.has(tool.name)) throw new TypeError(`Toolset: there are two tools named '${tool.name}'`)
    entries.set(tool.name, { tool, levels: tool.isBuiltIn ? [] : levelsOf(tool, tables) })
  }
  for (const name of tables.byTool.keys()) {
    if (!tools.some((tool) => tool.name === name)) {
      const names = tools.map((tool) => tool.name).join(", ")
      throw new TypeError(`Toolset: onToolError names '${name}', available tools are: ${names}`)
    }
  }
  const parts = tools.find((tool) => tool.parts !== undefined)?.parts
  const [pinned, ...more] = tools.filter(({ pin }) => pin !== undefined)
  const provided = all.flatMap(({ isProvided, name }) => (isProvided === true ? [name] : []))
  return {
    specs: all.flatMap((tool) => (isListed(tool) ? [tool.spec()] : [])),
    ...(unwrap === undefined ? {} : { unwrap }),
    ...(provided.length === 0 ? {} : { providerCalls: provided }),
    entries,
    gates,
    unknown: tables.defaults,
    refuses: tables.resilient?.refuses,
    ...(pinned === undefined ? {} : { pinned: [pinned, ...more] as const }),
    ...(parts === undefined ? {} : { adaptsParts: parts.adapt })
  }
}

const isListed = ({ isProvided, isRetired, onDemand }: ToolDefinition): boolean =>
  isProvided !== true && isRetired !== true && onDemand === undefined

const levelsOf = (tool: ToolDefinition, tables: Tables): ReadonlyArray<Level> => {
  // Mutant `""` survives: the name counts only for a hard failure of an agent, which such a tool does not run
  if (tool.isAdded === true) return [{ name: "tool", rows: tool.rows }]
  const levels: ReadonlyArray<Level> = [
    { name: "tool", rows: tool.rows },
    { name: "agent", rows: tables.byTool.get(tool.name) ?? new Map() },
    { name: "defaults", rows: tables.defaults },
    { name: "resilient", rows: tables.resilient?.tools ?? new Map() }
  ]
  // Mutants `true`, `levels`, `level.rows.size >= 0` survive: speed only. A level without rows has a row for no error
  return levels.filter((level) => level.rows.size > 0)
}

/** Whether a call is one of a built-in tool, which ends the run. Such a call is settled before the other calls of its reply, and alone. */
export const isBuiltIn = (self: Toolset, site: CallSite): boolean => {
  const entry = entryOf(self, site.call)
  return entry?.tool.isBuiltIn === true && isOffered(site, entry.tool)
}

/**
 * Whether a tool may be called in this turn. `offered` has the names of the tools that were chosen for the turn; without it, all may be
 * called. No choice can name a tool that the library adds, so it may be called whenever another tool may. A retired tool settles the calls
 * of earlier turns, and so in each turn.
 */
export const isOffered = (
  { offered }: Pick<CallSite, "offered">,
  { isAdded, isRetired, name }: Pick<ToolDefinition, "name" | "isAdded" | "isRetired">
): boolean =>
  offered === undefined || isRetired === true || offered.includes(name) || (isAdded === true && offered.length > 0)

/**
 * The call that a call of `call_tool` makes, and what had to be mended to read it; any other call stays as it is, and so does one whose text
 * is too long to be read. Built-in tools and those of a provider are called by their own names only.
 */
export const madeBy = (self: Toolset, call: Message.ToolCall): PassedOn => {
  if (self.unwrap === undefined || !isRead(self, call)) return { call, changes: [] }
  const made = self.unwrap(call, (one) => isOwn(self, one))
  const tool = made && entryOf(self, made.call)?.tool
  return made === undefined || tool?.isBuiltIn === true || tool?.isProvided === true ? { call, changes: [] } : made
}

/** Whether the arguments of a call may hold another call, and are short enough to be read. */
const isRead = (self: Toolset, call: Message.ToolCall): boolean =>
  !isOwn(self, call) && (!Predicate.isString(call.arguments) || isWithinBytes(call.arguments, self.gates.maxArgsBytes))

/**
 * Whether a call is none of `call_tool`: it is one of a tool of the agent, or may mean several. An agent with a retired tool may have lost
 * `call_tool` with it.
 */
const isOwn = (self: Toolset, call: Message.ToolCall): boolean => {
  const caller = entryOf(self, call)?.tool
  if (caller !== undefined) return caller.isAdded !== true
  return Array.from(self.entries.values()).some(({ tool }) => tool.isAdded === true)
}

/** The call of `madeBy` alone. */
export const callOf = (self: Toolset, call: Message.ToolCall): Message.ToolCall =>
  self.unwrap === undefined ? call : madeBy(self, call).call

/** The name of the tool that a call means. If there is no such tool, it is the name that the model wrote. */
export const nameOf = (self: Toolset, call: Message.ToolCall): string => entryOf(self, call)?.tool.name ?? call.name

/**
 * The name and the arguments of a call in a form that is equal for equal calls, see `Call.written`. `numbers` are those which the tool took as
 * texts, if it is one that the agent had before; then the name is that of the call.
 */
export const writtenOf = (
  self: Toolset,
  call: Message.ToolCall,
  numbers?: ReadonlyArray<string>
): ReadonlyArray<Schema.Json> => {
  if (numbers !== undefined) return [call.name, ...Call.writtenWith(call, () => numbers)]
  return [nameOf(self, call), ...Call.written(entryOf(self, call)?.tool, call)]
}

/** The side effects of the tool that a call means; `undeclared` for an unknown tool. */
export const sideEffectsOf = (self: Toolset, call: Message.ToolCall): ToolDefinition["sideEffects"] =>
  entryOf(self, call)?.tool.sideEffects ?? "undeclared"

const entryOf = ({ entries }: Toolset, { name }: Message.ToolCall): Entry | undefined => {
  const exact = entries.get(name)
  if (exact !== undefined) return exact
  const tools = Array.from(entries.values(), ({ tool }) => tool).filter(({ isRetired }) => isRetired !== true)
  return entries.get(meant(tools, name)?.name ?? "")
}

/** Settles one call: decodes, admits, runs, recovers. Defects and interruption pass through. */
export const settle = (self: Toolset, made: CallSite): Effect.Effect<Outcome> => {
  const { call, history } = made
  const entry = entryOf(self, call)
  const site = entry === undefined ? made : named(made, entry.tool)
  const isLeftOut = entry !== undefined && !isOffered(site, entry.tool)
  if (entry?.tool.endsRun !== undefined && !isLeftOut)
    return begin(entry.tool, site, entry.tool.endsRun(entry.tool, site))
  if (history.isToolsOff) return refuse(site, Render.toolsOff)
  if (entry === undefined) return UnknownTool.settle(namesFor(self, site), self.unknown, site)
  if (history.withheld.has(entry.tool.name)) return refuse(site, Render.withheld(entry.tool.name))
  if (isLeftOut) return refuse(site, Render.leftOut(entry.tool.name))
  const { callCap } = entry.tool
  // a call that goes on was counted when it began
  if (callCap !== undefined && site.from === undefined && !isWithin(callCap, site.run)) {
    return refuse(site, Render.capped(entry.tool.name, callCap.max))
  }
  const held = self.refuses?.(site, (other) => {
    const made = callOf(self, other)
    return entryOf(self, made) === entry ? made : undefined
  })
  if (held !== undefined) return refuse(site, held)
  const { among, pin } = entry.tool
  if (among !== undefined) return beginTool(self, { ...entry, tool: among((tool) => isCallable(tool, site)) }, site)
  if (pin === undefined) return beginTool(self, entry, site)
  return Effect.flatMap(RunContext.within(site.run, pin.check(entry.tool, site)), (tool) =>
    Predicate.isString(tool) ? refuse(site, tool) : beginTool(self, { ...entry, tool }, site)
  )
}

/** Whether a call of a tool would run, as far as that is known before the call. */
const isCallable = (tool: ToolDefinition, site: CallSite): boolean =>
  isOffered(site, tool) &&
  !site.history.withheld.has(tool.name) &&
  (tool.callCap === undefined || site.run.meter.callCounts.admits(tool.callCap, Call.agentsOf(site.run)))

const isWithin = (cap: CallCap, run: RunContext.RunContext): boolean =>
  run.meter.callCounts.take(cap, Call.agentsOf(run))

/** Settles the end of a call that was settled as `deferred` before: its rows decide. Defects and interruptions pass. */
export const settleLate = (self: Toolset, site: CallSite): Effect.Effect<Outcome> => {
  const entry = self.entries.get(site.call.name)
  // Mutant `` `` `` survives: a resumption without the tool is refused before
  if (entry === undefined) return Effect.die(new TypeError(`There is no tool '${site.call.name}' to go on with`))
  return RunContext.within(site.run, settleTool(entry, self.gates, site))
}
const namesFor = ({ entries }: Toolset, site: CallSite): ReadonlyArray<string> =>
  Array.from(entries).flatMap(([name, { tool }]) =>
    tool.onDemand === undefined && tool.isRetired !== true && isOffered(site, tool) ? name : []
  )

const beginTool = (self: Toolset, entry: Entry, site: CallSite): Effect.Effect<Outcome> =>
  begin(entry.tool, site, RunContext.within(site.run, settleTool(entry, self.gates, site)))

/** Gives a call the name of the tool that it means. The transcript keeps the name that the model wrote. */
const named = (site: CallSite, { name }: ToolDefinition): CallSite =>
  site.call.name === name ? site : { ...site, call: { ...site.call, name }, calledAs: site.call.name }

/** The entry in the failure history for a call that was settled before. */
export const recordOf = ({ name: tool }: Message.ToolCall, settlement: Message.Settlement): Outcome["record"] => ({
  tool,
  isError: Message.isError(settlement),
  ...(settlement.kind === "denied" ? { isDenied: true } : {})
})

const begin = <A>(
  { definedAt, foreignName, sideEffects }: ToolDefinition,
  { call, calledAs, run }: CallSite,
  body: Effect.Effect<A>
): Effect.Effect<A> =>
  RunContext.begin(
    run,
    () => ({
      type: "tool-start",
      callId: call.id,
      tool: call.name,
      ...(foreignName === undefined ? {} : { foreignName }),
      ...(calledAs === undefined ? {} : { calledAs }),
      ...(sideEffects === "undeclared" ? {} : { sideEffects }),
      ...(definedAt === undefined ? {} : { definedAt }),
      arguments: call.arguments
    }),
    body
  )

/** Denies a call of a tool that exists but may not be called now. */
const refuse = ({ call, run }: CallSite, text: string): Effect.Effect<Outcome> => {
  const settlement: Message.Settlement = { kind: "denied", text }
  return Effect.as(
    RunContext.emit(run, () => ({ type: "tool-denied", callId: call.id, tool: call.name, settlement })),
    { settlement, record: denialOf(call.name) }
  )
}
