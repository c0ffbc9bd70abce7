/** Grants: what a person has approved for more than one call, as data. The store of the grants of conversations. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * The scope of an approval: this call (the default), equal calls of this run, equal calls of a conversation, or the calls that fit a rule
 * of the tool, in this run or in a conversation. Equal calls have the same tool and the same arguments.
 *
 * @hidden
 */
export type ApprovalScope = typeof ApprovalScope.Type

/** @hidden */
export const ApprovalScope = Schema.Union([
  Schema.Literals(["call", "run"]),
  Schema.Struct({ conversation: Schema.String, rule: Schema.optionalKey(Schema.String) }),
  Schema.Struct({ rule: Schema.String })
])

/** The fields of an approval that define its scope. */
export const approvalFields = {
  for: Schema.optionalKey(ApprovalScope),
  /** Whether the grant also holds for sub-agents of the agent. */
  deep: Schema.optionalKey(Schema.Boolean),
  /** The end of the grant, in milliseconds since the epoch. */
  until: Schema.optionalKey(Schema.Finite),
  /** Who has approved. */
  who: Schema.optionalKey(Schema.String)
}

/**
 * An approval of more than one call, as data. It admits the calls of one agent, at one place among the agents around it, and of one tool, as
 * long as the definition of the tool stays the same.
 */
export interface Grant extends Schema.Schema.Type<typeof Grant> {}

export const Grant = Schema.Struct({
  id: Schema.String,
  agent: Schema.String,
  /** The names of the parent agents, nearest first; absent for a run without a parent. */
  ancestors: Schema.optionalKey(Schema.Array(Schema.String)),
  tool: Schema.String,
  /** The digest of the tool's definition. */
  definition: Schema.String,
  /** The canonical JSON of the arguments, or the name of a rule of the tool. */
  admits: Schema.Union([Schema.Struct({ arguments: Schema.String }), Schema.Struct({ rule: Schema.String })]),
  /** The time of the approval, in milliseconds since the epoch. */
  at: Schema.Finite,
  until: Schema.optionalKey(Schema.Finite),
  deep: Schema.optionalKey(Schema.Literal(true)),
  who: Schema.optionalKey(Schema.String)
})

/**
 * A store of grants. The snapshot of a run has the grants of that run; the store only has their revocations. If the store fails, a person
 * is asked, and the failure is logged.
 */
export interface Approvals {
  /** The grants of a conversation. */
  readonly grantsOf: (conversation: string) => Effect.Effect<ReadonlyArray<Grant>, unknown>
  /** Adds a grant to a conversation. A grant with the same id is replaced. */
  readonly add: (conversation: string, grant: Grant) => Effect.Effect<void, unknown>
  /** Revokes the grant with this id, of a conversation or of a run. From then on it admits no call. */
  readonly revoke: (id: string) => Effect.Effect<void, unknown>
  readonly isRevoked: (grant: Grant) => Effect.Effect<boolean, unknown>
}

/** The bounds of `approvalsOfProcess`. */
type MemoryOptions = {
  /** The most conversations that have grants; 10,000 by default. The conversation that got a grant longest ago loses its grants. */
  readonly conversations?: number
  /** The most grants of a conversation; 100 by default. The oldest grant goes. */
  readonly grants?: number
  /** The most revocations; 10,000 by default. When the store drops the oldest one, all grants before it count as revoked. */
  readonly revocations?: number
}

/** Grants in the memory of this process. Where a limit takes a grant away, a person is asked again. */
export const approvalsOfProcess = ({
  conversations = 10_000,
  grants = 100,
  revocations = 10_000
}: MemoryOptions = {}): Approvals => {
  const byConversation = new Map<string, Map<string, Grant>>()
  const revoked = new Map<string, number>()
  let revokedUntil = -Infinity
  const isRevoked = ({ at, id }: Grant) => at <= revokedUntil || revoked.has(id)
  const add = (conversation: string, grant: Grant): void => {
    const before = byConversation.get(conversation) ?? new Map<string, Grant>()
    byConversation.delete(conversation)
    byConversation.set(conversation, before)
    before.delete(grant.id)
    before.set(grant.id, grant)
    cut(before, grants)
    cut(byConversation, conversations)
  }
  const revoke = (id: string, now: number): void => {
    for (const one of byConversation.values()) one.delete(id)
    revoked.set(id, now)
    for (const at of cut(revoked, revocations)) revokedUntil = Math.max(revokedUntil, at)
  }
  return {
    grantsOf: (conversation) => Effect.sync(() => [...(byConversation.get(conversation)?.values() ?? [])]),
    add: (conversation, grant) => Effect.sync(() => add(conversation, grant)),
    revoke: (id) => Effect.map(Clock.currentTimeMillis, (now) => revoke(id, now)),
    isRevoked: (grant) => Effect.sync(() => isRevoked(grant))
  }
}

/** Removes the oldest entries beyond a limit, and returns them. */
const cut = <A>(entries: Map<string, A>, most: number): ReadonlyArray<A> => {
  const gone: Array<A> = []
  for (const [key, value] of entries) {
    if (entries.size <= most) break
    entries.delete(key)
    gone.push(value)
  }
  return gone
}

/** The store of grants of this program; `approvalsOfProcess` by default. */
export const Approvals = Context.Reference<Approvals>("@kintsugi/core/Approval/Approvals", {
  defaultValue: () => approvalsOfProcess()
})

/** The conversation of a run, whose grants the run reads. `undefined` by default. */
export const Conversation = Context.Reference<string | undefined>("@kintsugi/core/Approval/Conversation", {
  defaultValue: () => undefined
})
