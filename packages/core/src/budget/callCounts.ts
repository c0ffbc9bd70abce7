/** How often the tools with a cap were called in a run. */
/** The limit of the calls of one tool. Its identity is that of the tool: copies of a tool share it. */
export interface CallCap {
  readonly tool: string
  readonly max: number
}

/** How often a tool was called, by which agents: each with the agents around it, the nearest first. */
export interface CappedTool {
  readonly tool: string
  readonly agents: ReadonlyArray<ReadonlyArray<string>>
  readonly calls: number
}

/** The counts as a snapshot has them. If only names are known, a tool takes the count of its name. */
interface CappedCalls {
  readonly cappedCalls: Readonly<Record<string, number>>
  readonly cappedTools: ReadonlyArray<CappedTool>
}

export class CallCounts {
  #calls: Map<CallCap, CappedTool> | undefined
  /** The counts of a resumed run for tools that have not been seen yet. */
  #before: ReadonlyArray<CappedTool> = []

  /** Counts a call of a tool by an agent, unless its cap admits no more. */
  take(cap: CallCap, agents: ReadonlyArray<string>): boolean {
    const counts = (this.#calls ??= new Map<CallCap, CappedTool>())
    const calls = this.#callsOf(cap, agents)
    const own = counts.get(cap) ?? this.#calledBy(cap, agents)
    const all = own?.agents ?? []
    const isWithin = calls < cap.max
    const agentsNow = isIn(all, agents) ? all : [...all, agents]
    counts.set(cap, { tool: cap.tool, agents: agentsNow, calls: isWithin ? calls + 1 : calls })
    return isWithin
  }

  /** Whether the cap of a tool admits another call by an agent. */
  admits(cap: CallCap, agents: ReadonlyArray<string>): boolean {
    return this.#callsOf(cap, agents) < cap.max
  }

  #callsOf(cap: CallCap, agents: ReadonlyArray<string>): number {
    const named = this.#before.filter(({ tool }) => tool === cap.tool)
    const own = this.#calls?.get(cap) ?? named.find((one) => isIn(one.agents, agents))
    return own?.calls ?? Math.max(0, ...named.map(({ calls }) => calls))
  }

  /** The earlier count of this agent's tool, unless the count is known to be another tool's. */
  #calledBy({ tool }: CallCap, agents: ReadonlyArray<string>): CappedTool | undefined {
    const found = this.#before.find((one) => one.tool === tool && isIn(one.agents, agents))
    this.#before = this.#before.filter((one) => one !== found)
    return found
  }

  /** The counts as data; `undefined` if no tool was called. */
  get data(): CappedCalls | undefined {
    const cappedTools = [...this.#before, ...(this.#calls?.values() ?? [])]
    if (cappedTools.length === 0) return undefined
    const cappedCalls = new Map<string, number>()
    for (const { calls, tool } of cappedTools) cappedCalls.set(tool, Math.max(calls, cappedCalls.get(tool) ?? 0))
    return { cappedCalls: Object.fromEntries(cappedCalls), cappedTools }
  }

  /** Goes on with the counts of a run that was suspended. `capOf` finds the tool of an agent. */
  restore(
    { cappedCalls = {}, cappedTools }: Partial<CappedCalls>,
    capOf: (tool: string, agents: ReadonlyArray<string>) => CallCap | undefined
  ): void {
    const named = Object.entries(cappedCalls).map(([tool, calls]) => ({ tool, agents: [], calls }))
    const restored = new Map<CallCap, CappedTool>()
    this.#before = (cappedTools ?? named).filter((one) => {
      const [cap] = one.agents.flatMap((agents) => capOf(one.tool, agents) ?? [])
      if (cap !== undefined) restored.set(cap, one)
      return cap === undefined
    })
    this.#calls = restored
  }
}

const isIn = (all: CappedTool["agents"], agents: ReadonlyArray<string>): boolean =>
  all.some((one) => one.length === agents.length && one.every((name, at) => name === agents[at]))
