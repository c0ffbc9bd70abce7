/** Compares the tools of one server with their pins: it decides which definitions are accepted, and what happens to the other tools. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import type * as Approval from "@kintsugi/core/Approval"
import type * as Redaction from "@kintsugi/core/Redaction"
import type * as Tool from "@kintsugi/core/Tool"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { definitionOf, digestOf, type Pin, type PinStore } from "./pins.ts"
import { oneLine } from "./line.ts"

/** What happens to a tool that has changed, and to a tool that is new since the first list. */
export interface Policy {
  readonly onChange: "refuse" | "ask" | "accept"
  readonly onNew: "offer" | "ask" | "refuse"
}

/** A tool as its server defines it now. */
interface Latest {
  readonly tool: McpSchema.Tool
  readonly digest: string
  readonly definition: Schema.Json
}

/** A tool that is not offered, and why. */
export interface LeftOut {
  readonly tool: McpSchema.Tool
  readonly why: "changed" | "new"
}

/**
 * The state of a tool beside its pin: whether the pin accepts the definition that the server has now.
 *
 * @hidden
 */
export interface PinnedTool {
  readonly tool: string
  /** `gone`: the tool has a pin, but the server no longer has the tool. */
  readonly state: "same" | "changed" | "new" | "gone"
  /** The pinned definition. */
  readonly before?: Schema.Json
  /** The definition that the server has now, if it is not the pinned one. */
  readonly after?: Schema.Json
}

/** How many replaced definitions a pin remembers. */
const mostReplaced = 16

export class Pinning {
  readonly #server: string
  readonly #redact: typeof Redaction.own
  readonly #policy: Policy
  readonly #store: PinStore
  readonly #one = Semaphore.makeUnsafe(1)
  readonly #relisting = Semaphore.makeUnsafe(1)
  #latest: ReadonlyMap<string, Latest> | undefined
  #pins: ReadonlyMap<string, Pin> = new Map()
  /** The digest of each tool object that a list has had. */
  readonly #digests = new WeakMap<McpSchema.Tool, string>()
  /** Whether the server has reported a change of its tools since the last list. */
  isStale = false

  constructor(server: string, redact: typeof Redaction.own, policy: Policy, store: PinStore) {
    this.#server = server
    this.#redact = redact
    this.#policy = policy
    this.#store = store
  }

  /**
   * Compares a list with the pins, and returns the tools to offer and the others. All tools of a server's first list are pinned; of a later
   * list, those that the policy accepts.
   */
  take(
    tools: ReadonlyArray<McpSchema.Tool>
  ): Effect.Effect<
    { readonly offered: ReadonlyArray<McpSchema.Tool>; readonly leftOut: ReadonlyArray<LeftOut> },
    unknown
  > {
    const { onChange, onNew } = this.#policy
    const comparing = Effect.gen({ self: this }, function* () {
      const found = yield* this.#see(tools)
      const pins = yield* this.#read
      const next = new Map(pins)
      for (const { definition, digest, tool } of found) {
        const pin = next.get(tool.name)
        const isTaken = pin === undefined ? pins === undefined || onNew === "offer" : onChange === "accept"
        if (isTaken && pin?.digest !== digest) {
          next.set(tool.name, { tool: tool.name, digest, definition, replaced: replacing(pin, digest) })
        }
      }
      if (pins === undefined || found.some(({ tool: { name } }) => next.get(name) !== pins.get(name))) {
        yield* this.#write(next)
      }
      this.#pins = next
      this.#remember(found)
      const leftOut = found.flatMap(({ digest, tool }): ReadonlyArray<LeftOut> => {
        const pin = next.get(tool.name)
        if (pin === undefined) return onNew === "refuse" ? [{ tool, why: "new" }] : []
        return pin.digest === digest || onChange === "ask" ? [] : [{ tool, why: "changed" }]
      })
      return { offered: tools.filter((tool) => leftOut.every((left) => left.tool !== tool)), leftOut }
    })
    return this.#one.withPermits(1)(comparing)
  }

  #see(tools: ReadonlyArray<McpSchema.Tool>): Effect.Effect<ReadonlyArray<Latest>> {
    return Effect.forEach(tools, (tool) => {
      const definition = definitionOf(tool, this.#redact)
      return Effect.map(digestOf(this.#server, tool.name, definition), (digest) => {
        this.#digests.set(tool, digest)
        return { tool, digest, definition }
      })
    })
  }

  /** Remembers the definitions of a list. If several tools have one name, the pinned one counts. */
  #remember(found: ReadonlyArray<Latest>): void {
    const latest = new Map<string, Latest>()
    for (const one of found) {
      const { name } = one.tool
      if (!latest.has(name) || this.#pins.get(name)?.digest === one.digest) latest.set(name, one)
    }
    this.#latest = latest
  }

  get #read(): Effect.Effect<ReadonlyMap<string, Pin> | undefined, unknown> {
    return Effect.map(this.#store.read(this.#server), (pins) => pins && new Map(pins.map((pin) => [pin.tool, pin])))
  }

  #write(pins: ReadonlyMap<string, Pin>): Effect.Effect<void, unknown> {
    return this.#store.write(this.#server, [...pins.values()])
  }

  /** The tool of this name, as the server has defined it in the last list. */
  currentOf(name: string): McpSchema.Tool | undefined {
    return this.#latest?.get(name)?.tool
  }

  /** The source of a tool's pin, for runs; `undefined` if no list has had the tool. `relist` lists the tools again. */
  sourceOf(
    tool: McpSchema.Tool,
    relist: Effect.Effect<unknown>,
    make: (tool: McpSchema.Tool) => Tool.AnyTool
  ): Tool.PinSource | undefined {
    const { name } = tool
    const digest = this.#digests.get(tool) ?? this.#latest?.get(name)?.digest
    if (digest === undefined) return undefined
    const now = Effect.gen({ self: this }, function* () {
      yield* this.#relisting.withPermits(1)(Effect.suspend(() => (this.isStale ? relist : Effect.void)))
      const latest = this.#latest?.get(name)
      // the store may have another pin by now, because an operator has accepted the definition
      if (latest !== undefined && this.#pins.get(name)?.digest !== latest.digest) yield* Effect.ignore(this.#reload)
      return latest === undefined ? undefined : { digest: latest.digest, tool: () => make(latest.tool).definition }
    })
    return {
      key: `${this.#server}/${name}`,
      server: this.#server,
      digest,
      now,
      verdict: (offered, now) => this.#verdict(name, offered, now),
      change: (offered) => this.#change(name, offered),
      accept: (offered, now) =>
        this.#accept(name, offered, now).pipe(
          Effect.catch((error) => Effect.logWarning(oneLine(ErrorCause.summarise(error).message)))
        )
    }
  }

  get #reload(): Effect.Effect<void, unknown> {
    return Effect.map(this.#read, (pins) => {
      if (pins !== undefined) this.#pins = pins
    })
  }

  #verdict(name: string, offered: string, now: string): ReturnType<Tool.PinSource["verdict"]> {
    const { onChange, onNew } = this.#policy
    const pin = this.#pins.get(name)
    if (pin === undefined) return onNew === "offer" ? (offered === now ? "same" : "accept") : onNew
    if (pin.digest !== now) return onChange
    return offered === now ? "same" : pin.replaced.includes(offered) ? "accept" : onChange
  }

  #change(name: string, offered: string): Approval.DefinitionChange {
    const pin = this.#pins.get(name)
    const latest = this.#latest?.get(name)
    const after = latest?.definition ?? null
    if (pin === undefined) return { server: this.#server, after }
    const isStored = pin.digest === offered || pin.digest !== latest?.digest
    return { server: this.#server, before: isStored ? pin.definition : { digest: offered }, after }
  }

  #accept(name: string, offered: string, now: string): Effect.Effect<void, unknown> {
    const accepting = Effect.gen({ self: this }, function* () {
      const latest = this.#latest?.get(name)
      if (latest?.digest !== now) return
      const pins = new Map(this.#pins)
      const pin = pins.get(name)
      const replaced = [...new Set([...(offered === now ? [] : [offered]), ...replacing(pin, now)])].slice(
        0,
        mostReplaced
      )
      pins.set(name, { tool: name, digest: now, definition: latest.definition, replaced })
      this.#pins = pins
      const stored = new Map((yield* this.#read) ?? [])
      yield* this.#write(stored.set(name, { tool: name, digest: now, definition: latest.definition, replaced }))
    })
    return this.#one.withPermits(1)(accepting)
  }

  /** The states of all tools that are in the last list or have a pin. */
  get states(): ReadonlyArray<PinnedTool> {
    const names = new Set([...this.#pins.keys(), ...(this.#latest?.keys() ?? [])])
    return Array.from(names, (tool): PinnedTool => {
      const before = this.#pins.get(tool)
      const after = this.#latest?.get(tool)
      if (before === undefined) return { tool, state: "new", after: after?.definition ?? null }
      if (after === undefined) return { tool, state: "gone", before: before.definition }
      const isSame = before.digest === after.digest
      return {
        tool,
        before: before.definition,
        ...(isSame ? { state: "same" } : { state: "changed", after: after.definition })
      }
    })
  }

  /** Pins the definitions that the server has now, for these tools or for all. Returns the names of the tools whose pins change. */
  acceptAll(tools: ReadonlyArray<string> | undefined): Effect.Effect<ReadonlyArray<string>, unknown> {
    const accepting = Effect.gen({ self: this }, function* () {
      const pins = new Map(yield* this.#read)
      const taken = this.states.filter(({ state, tool }) => state !== "same" && (tools?.includes(tool) ?? true))
      for (const { state, tool } of taken) {
        const latest = this.#latest?.get(tool)
        if (state === "gone" || latest === undefined) pins.delete(tool)
        else {
          const { definition, digest } = latest
          pins.set(tool, { tool, digest, definition, replaced: replacing(pins.get(tool), digest) })
        }
      }
      if (taken.length > 0) yield* this.#write(pins)
      this.#pins = pins
      return taken.map(({ tool }) => tool)
    })
    return this.#one.withPermits(1)(accepting)
  }
}

/** The digests of the definitions that a definition with this digest replaces, newest first. */
const replacing = (pin: Pin | undefined, digest: string): ReadonlyArray<string> =>
  pin === undefined ? [] : [pin.digest, ...pin.replaced].filter((one) => one !== digest).slice(0, mostReplaced)
