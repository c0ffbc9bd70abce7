/** Grants: approvals by a person for more than one call. Later calls that a grant admits pass the gate, and no person is asked. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Approval from "../data/Approval.ts"
import { canonical, digestOf } from "../data/Digest.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import { Approvals, Conversation, type Grant } from "../data/Grants.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Approving from "./approving.ts"
import * as Call from "./call.ts"
import { through } from "./passing.ts"
import type { ApprovalGate, CallAtGate, NeedsApproval, Passed, Rules } from "./ToolDefinition.ts"

/** The gate of a tool that needs approval. A grant or a person lets the call pass. The predicate `when` is asked once per call. */
export const granting = (needs: NeedsApproval, rules: Rules): ApprovalGate => ({
  ...needs,
  rules,
  through,
  provided: (around) =>
    granting(
      { ...needs, when: (params) => around(needs.when(params)) },
      Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, (params) => around(rule(params))]))
    ),
  pass: (call) =>
    Effect.flatMap(isAsked(needs, call), (is) => {
      if (!is) return Effect.succeed({ decision: approved })
      const named = { ...needs, ruleNames: Object.keys(rules) }
      const person = Effect.flatMap(byPerson(named).pass(call), (passed) => noted(passed, rules, call))
      return mayBeGranted(call) ? admitted(rules, call, person) : person
    })
})

/**
 * The gate at which a person decides. The caller knows already that the call needs approval, so `when` is asked only for a renewed request.
 */
const byPerson = (needs: NeedsApproval): ApprovalGate => {
  let holds = true
  const when: NeedsApproval["when"] = (params) => {
    if (!holds) return needs.when(params)
    holds = false
    return Effect.succeed(true)
  }
  return Approving.gate({ ...needs, when })
}

/**
 * Whether a grant may admit the call. Edited arguments are approved already, and a decision about this very call comes before any grant.
 */
const mayBeGranted = ({ decoded, edited, site: { decisions, from } }: CallAtGate): boolean =>
  canonical(decoded.json) !== edited &&
  (from?.type !== "decision" ||
    from.request.failed !== undefined ||
    decisions?.about(from.request.digest) === undefined)

/** Whether the call needs approval. If the predicate fails, it does. */
const isAsked = (needs: NeedsApproval, { decoded, site }: CallAtGate): Effect.Effect<boolean> => {
  if (site.from?.type === "decision" && site.from.request.failed === undefined) return Effect.succeed(true)
  const answer = Result.try(() => needs.when(() => decoded.params()))
  return Result.isFailure(answer) ? Effect.succeed(true) : Effect.orElseSucceed(answer.success, () => true)
}

/**
 * Admits the call if there is a grant for it, and asks a person otherwise. A durable run stores the id of the grant, because a replay may
 * see grants that came later.
 */
const admitted = (rules: Rules, call: CallAtGate, person: Effect.Effect<Passed>): Effect.Effect<Passed> => {
  const { site, tool } = call
  const callId = site.call.id
  const looked = Interception.step(
    () => ({ type: "grant", tool: tool.name, callId }),
    () => Effect.map(granted(rules, call), (grant) => grant?.id)
  )
  return Effect.flatMap(looked, (by) =>
    by === undefined
      ? person
      : RunContext.emitThen(
          site.run,
          () => ({ type: "approval-decided", callId, tool: tool.name, decision: approved, by }),
          () => Effect.succeed({ decision: approved })
        )
  )
}

const approved: Approval.Decision = { type: "approve" }

/** The first grant that admits the call: of the run, of its ancestors, of the conversation. */
const granted = (rules: Rules, call: CallAtGate): Effect.Effect<Grant | undefined> =>
  Effect.gen(function* () {
    const { done } = call.site.run
    const near = [...(done.granted ?? []), ...ofAncestors(done.parent)]
    const conversation = yield* Conversation
    if (near.length === 0 && conversation === undefined) return undefined
    const store = yield* Approvals
    const ofConversation =
      conversation === undefined
        ? []
        : (yield* store.grantsOf(conversation)).filter((grant) => isForAgent(grant, call.site.run))
    // Mutant `true` survives: speed only. The definitions that are compared below contain the name of the tool too
    const grants = [...near, ...ofConversation].filter(({ tool }) => tool === call.tool.name)
    if (grants.length === 0) return undefined
    const definition = yield* definitionOf(call)
    const now = yield* Clock.currentTimeMillis
    for (const grant of grants) {
      if (grant.definition !== definition || (grant.until !== undefined && now > grant.until)) continue
      if ((yield* isFor(grant, rules, call)) && !(yield* store.isRevoked(grant))) return grant
    }
    return undefined
  }).pipe(Effect.catchCause((cause) => Effect.as(warned("read", cause), undefined)))

const ofAncestors = (from: RunContext.RunContext["done"] | undefined): ReadonlyArray<Grant> => {
  // Mutant `["Stryker was here"]` survives: a text is a grant of no tool
  const found: Array<Grant> = []
  for (let one = from; one !== undefined; one = one.parent) {
    for (const grant of one.granted ?? []) if (grant.deep === true) found.push(grant)
  }
  return found
}

/**
 * Whether a grant is for this agent. A grant is for the agent to which it was given and, if it is deep, for all agents that this one
 * starts.
 */
const isForAgent = (grant: Grant, run: RunContext.RunContext): boolean => {
  const wanted = canonical([grant.agent, ...(grant.ancestors ?? [])])
  for (let names = Call.agentsOf(run); names.length > 0; names = names.slice(1)) {
    if (canonical(names) === wanted) return true
    if (grant.deep !== true) return false
  }
  return false
}

const isFor = ({ admits }: Grant, rules: Rules, { decoded }: CallAtGate): Effect.Effect<boolean> => {
  if ("arguments" in admits) return Effect.succeed(admits.arguments === canonical(decoded.json))
  const rule = Object.hasOwn(rules, admits.rule) ? rules[admits.rule] : undefined
  const answer = rule === undefined ? undefined : Result.try(() => rule(() => decoded.params()))
  // a rule that fails admits nothing
  if (answer === undefined || Result.isFailure(answer)) return Effect.succeed(false)
  return Effect.orElseSucceed(answer.success, () => false)
}

/** The digest of all that a person may have looked at of a tool before the approval. */
const definitionOf = ({ tool }: CallAtGate): Effect.Effect<string> => {
  const { description, name, parameters } = tool.spec()
  return digestOf([
    name,
    description,
    parameters,
    tool.sideEffects,
    ...(tool.pin === undefined ? [] : [tool.pin.digest])
  ])
}

/** Stores the grant that an approval makes, if it makes one, and passes the decision on. */
const noted = (passed: Passed, rules: Rules, call: CallAtGate): Effect.Effect<Passed> => {
  const decision = "decision" in passed ? passed.decision : undefined
  if (decision?.type !== "approve" || decision.for === undefined || decision.for === "call")
    return Effect.succeed(passed)
  const scope = decision.for
  // Mutant `true` survives: a text has no rule
  const rule = typeof scope === "object" ? scope.rule : undefined
  const noting = Effect.gen(function* () {
    if (rule !== undefined && !Object.hasOwn(rules, rule)) return yield* withoutRule(rule, call)
    const grant = yield* grantOf(decision, rule, call)
    if (typeof scope === "object" && "conversation" in scope) return yield* stored(scope.conversation, grant, call)
    const { done } = call.site.run
    done.granted = [...(done.granted ?? []).filter(({ id }) => id !== grant.id), grant]
  })
  return Effect.as(noting, passed)
}

const grantOf = (
  { arguments: edited, deep, until, who }: Extract<Approval.Decision, { readonly type: "approve" }>,
  rule: string | undefined,
  call: CallAtGate
): Effect.Effect<Grant> =>
  Effect.gen(function* () {
    const { decoded, site, tool } = call
    const definition = yield* definitionOf(call)
    const args = canonical(edited === undefined ? decoded.json : yield* asRun(edited, call))
    const admits = rule === undefined ? { arguments: args } : { rule }
    // the id is the same in every replay
    const id = yield* digestOf([site.key, definition, args, rule ?? null])
    const [agent = "", ...ancestors] = Call.agentsOf(site.run)
    return {
      id: id.slice(0, 32),
      agent,
      ...(ancestors.length === 0 ? {} : { ancestors }),
      tool: tool.name,
      definition,
      admits,
      at: yield* Clock.currentTimeMillis,
      ...(until === undefined ? {} : { until }),
      ...(deep === true ? { deep } : {}),
      ...(who === undefined ? {} : { who })
    }
  })

/**
 * Decodes edited arguments, because later calls are compared with the arguments that ran. Arguments that do not decode stay as they are:
 * they run nothing.
 */
const asRun = (edited: Schema.Json, { site, tool }: CallAtGate): Effect.Effect<Schema.Json> =>
  Call.decode(tool, { ...site.call, arguments: edited }, (read) =>
    Effect.succeed(Result.isSuccess(read) ? read.success.json : edited)
  )

/** Stores a grant for a conversation. A durable run does this once, because a replay would store again what was revoked since then. */
const stored = (conversation: string, grant: Grant, { site, tool }: CallAtGate): Effect.Effect<void> =>
  Interception.step(
    () => ({ type: "grant", tool: tool.name, callId: site.call.id }),
    () =>
      Effect.flatMap(Approvals, (store) => store.add(conversation, grant)).pipe(
        Effect.as(undefined),
        Effect.catchCause((cause) => warned("stored", cause))
      )
  )

const warned = (what: string, cause: Parameters<typeof ErrorCause.logged>[0]): Effect.Effect<undefined> =>
  Effect.as(Effect.logWarning(`Grants could not be ${what}: a person is asked`, ErrorCause.logged(cause)), undefined)

const withoutRule = (rule: string, { tool }: CallAtGate): Effect.Effect<void> =>
  Effect.logWarning(`Tool '${tool.name}' has no rule '${rule}': the approval holds for its call alone`)
