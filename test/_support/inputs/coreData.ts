/** core: data, and the redaction in it. */
import { Cause, Effect, Redacted, Result, Schema } from "effect"
import * as Arguments from "../../../packages/core/src/data/Arguments.ts"
import { base64Of } from "../../../packages/core/src/data/Base64.ts"
import * as Bounds from "../../../packages/core/src/data/Bounds.ts"
import * as Completion from "../../../packages/core/src/data/Completion.ts"
import * as Digest from "../../../packages/core/src/data/Digest.ts"
import * as CauseCodec from "../../../packages/core/src/data/CauseCodec.ts"
import * as ErrorCause from "../../../packages/core/src/data/ErrorCause.ts"
import * as Foreign from "../../../packages/core/src/data/Foreign.ts"
import * as Issue from "../../../packages/core/src/data/Issue.ts"
import * as Message from "../../../packages/core/src/data/Message.ts"
import { isNear, nearest } from "../../../packages/core/src/data/Nearest.ts"
import * as Redaction from "../../../packages/core/src/data/Redaction.ts"
import * as RetryAfter from "../../../packages/core/src/data/RetryAfter.ts"
import * as Signing from "../../../packages/core/src/data/Signing.ts"
import * as Token from "../../../packages/core/src/data/Token.ts"
import { repair } from "../../../packages/core/src/data/messageRepair.ts"
import * as Cursor from "../../../packages/core/src/event/Cursor.ts"
import * as Snapshot from "../../../packages/core/src/event/Snapshot.ts"
import { bm25 } from "../../../packages/core/src/tool/bm25.ts"
import * as RawSchema from "../../../packages/core/src/tool/RawSchema.ts"
import { costlyField } from "../../../packages/core/src/tool/schemaCost.ts"
import { exceededBy } from "../../../packages/core/src/tool/schemaSize.ts"
import {
  bombs,
  deepValues,
  documentsOfRuns,
  histories,
  misfits,
  replies,
  schemas,
  texts,
  values,
  wide
} from "./data.ts"
import {
  each,
  effectOnly,
  fixed,
  grows,
  looksOnce,
  merged,
  none,
  reached,
  schema,
  wraps,
  type Inputs,
  type Table
} from "./entry.ts"
import { credentials, repeated } from "./texts.ts"

const request = { runId: "run", key: "run/1/1", callId: "c1", tool: "look", schema: "", expiresAt: 0 }

/** Alternatives of each level of a value. */
const choices = { anyOf: [{ items: { $ref: "#" } }, { additionalProperties: { $ref: "#" } }, { type: "string" }] }

const signature = { key: "k1", mac: "0".repeat(64) }

const signing = <A>(self: Effect.Effect<A>): A =>
  Effect.runSync(
    Effect.provideService(self, Signing.Signing, {
      sign: (text) => Effect.succeed({ key: "k1", mac: text.slice(0, 8) }),
      verify: () => Effect.succeed("valid")
    })
  )

const any = { ...values, ...deepValues }

const secret = `${"Zx9".repeat(8)}=`

// known as long as these measurements last
const secretValue = Redacted.make(secret)
Redaction.know(secretValue)

const guarded: Inputs<string> = {
  ...texts,
  ...credentials,
  "a secret of the program": (size) => repeated(secret, size),
  "beginnings of a secret of the program": (size) => repeated(secret.slice(0, 8), size),
  "a secret of the program in escapes": (size) =>
    repeated(
      secret.replaceAll(/./g, (character) => `&#${character.charCodeAt(0)};`),
      size
    ),
  "beginnings of escapes": (size) => repeated("\\\\\\u004&#12&#x1%4", size),
  "pieces of a secret of the program": (size) => repeated(`${secret.slice(0, 12)} `, size)
}

const dataUrls: Inputs<string> = {
  ...texts,
  "a `data:` URL": (size) => `data:image/png;base64,${"A".repeat(size)}`,
  "beginnings of a `data:` URL": (size) => repeated("data:;base64", size)
}

export const coreData: Table = {
  "core/src/data/Approval.ts": {
    ...each(schema, "ApprovalRequest"),
    ...each(effectOnly, "Approver", "layer"),
    ...each(wraps, "approveWith", "approveFor", "refuse", "result")
  },
  "core/src/data/Arguments.ts": { readable: grows(any, Arguments.readable) },
  "core/src/data/Base64.ts": {
    ...each(looksOnce, "bytesIn"),
    ...each(wraps, "inWords"),
    base64Of: grows(dataUrls, (data) => base64Of({ data }))
  },
  "core/src/data/Bounds.ts": {
    ...each(fixed, "resolve"),
    isDeeper: grows(any, (value) => Bounds.isDeeper(value, Infinity)),
    isLonger: grows(any, (value) => Bounds.isLonger(value, Infinity))
  },
  "core/src/data/Completion.ts": {
    ...each(schema, "Completion"),
    ...each(wraps, "make", "failed"),
    withResult: grows(values, (value) => Completion.withResult("done", value)),
    withMetadata: grows(values, (value) => Completion.withMetadata("done", { value })),
    ...each(looksOnce, "isCompletion")
  },
  "core/src/data/Demand.ts": each(looksOnce, "demand", "oneOf", "aFunction", "options"),
  "core/src/data/Defined.ts": each(none("reads the stack of this process"), "definedAt"),
  "core/src/data/Digest.ts": {
    canonical: grows(values, Digest.canonical),
    digestOf: grows(values, (value) => Effect.runSync(Digest.digestOf(value))),
    withDigest: grows(values, (value) => Effect.runSync(Digest.withDigest(value, Effect.succeed))),
    digestOfRequest: grows(values, (value) =>
      Effect.runSync(Digest.digestOfRequest({ ...request, arguments: value }, value))
    )
  },
  "core/src/data/CauseCodec.ts": {
    ...each(effectOnly, "carried"),
    nested: grows(texts, (text) =>
      Schema.encodeUnknownSync(CauseCodec.nested(() => Schema.Never))(new Error(text, { cause: text }))
    )
  },
  "core/src/data/ErrorCause.ts": {
    ...each(schema, "ForeignError"),
    summarise: grows(texts, (text) => ErrorCause.summarise({ name: text, message: text, code: text })),
    ...each(reached, "messageOf", "tagOf", "kindOf"),
    trimmed: grows(texts, (text) => ErrorCause.trimmed(`${text}${".".repeat(text.length)}`)),
    sayingOf: grows(texts, (text) => ErrorCause.sayingOf(new Error(text))),
    logged: grows(texts, (text) => ErrorCause.logged(Cause.die(new Error(text, { cause: text })))),
    inLog: grows(texts, (text) => ErrorCause.inLog(text)),
    cut: grows(texts, (text) => ErrorCause.cut(text, text.length - 1))
  },
  "core/src/data/Foreign.ts": {
    ...each(effectOnly, "quietly"),
    ...each(looksOnce, "property", "approachable"),
    isDeep: grows(any, (value) => Foreign.isDeep(value, Infinity)),
    freeze: grows(any, Foreign.freeze)
  },
  "core/src/data/Issue.ts": {
    fromSchema: grows(misfits, ({ input, issue }) => Issue.fromSchema(issue, input)),
    ...each(reached, "format", "formatPath"),
    formatAll: grows(misfits, ({ input, issue }) => Issue.formatAll(Issue.fromSchema(issue, input)))
  },
  "core/src/data/Grants.ts": each(effectOnly, "approvalsOfProcess"),
  "core/src/data/Message.ts": {
    ...each(wraps, "text", "system", "user", "image", "file", "assistant"),
    textOf: grows(replies, Message.textOf),
    callsOf: grows(replies, Message.callsOf),
    settle: grows(replies, (reply) => Message.settle(reply, [])),
    withoutWithheld: grows(replies, (reply) => Message.withoutWithheld([Message.settle(reply, [])])),
    ...each(looksOnce, "isError", "isWithheld"),
    ...each(wraps, "incomplete")
  },
  "core/src/data/Nearest.ts": {
    nearest: grows(texts, (text) => nearest(text, ["look", text.slice(1), `${text}a`]), 64),
    isNear: grows(texts, (text) => isNear(text, text.slice(1)), 64)
  },
  "core/src/data/Once.ts": each(effectOnly, "once"),
  "core/src/data/Shortened.ts": each(none("notes an object, and reads nothing of it"), "asShortened"),
  "core/src/data/Redaction.ts": {
    own: grows(guarded, Redaction.own),
    foreign: merged({
      whole: grows(guarded, (text) => Redaction.foreign(text, Infinity)),
      "a half": grows(guarded, (text) => Redaction.foreign(text, text.length / 2))
    }),
    of: grows(guarded, Redaction.of([secret])),
    ...each(none("takes a secret of the developer, once"), "know"),
    SecretIndex: none("is measured as a part of own, foreign and of")
  },
  "core/src/data/RetryAfter.ts": {
    parse: grows(texts, (text) => RetryAfter.parse(text, 0)),
    httpDate: grows(texts, RetryAfter.httpDate)
  },
  "core/src/data/Returned.ts": {
    ...each(effectOnly, "effect", "valueOf"),
    ...each(looksOnce, "wrong"),
    ...each(fixed, "decision")
  },
  "core/src/data/Signing.ts": {
    signatureOf: grows(values, (value) => signing(Signing.signatureOf("snapshot", value))),
    refusalOf: grows(values, (value) => signing(Signing.refusalOf("snapshot", value, signature)))
  },
  "core/src/data/Token.ts": {
    partsOf: grows(texts, Token.partsOf),
    isGenuine: grows(texts, (text) => Effect.runPromise(Token.isGenuine(text))),
    isBound: grows(texts, (text) => Effect.runPromise(Token.isBound(`${text}.a.b.c.d`, { key: "k", runId: "r" }))),
    definitionOf: grows(texts, (text) => Effect.runPromise(Token.definitionOf("look", { text }))),
    make: grows(texts, (text) =>
      Effect.runPromise(Token.make({ runId: "r", key: "k", tool: "look", definition: "d", draw: "w", store: text }))
    )
  },
  "core/src/data/Usage.ts": each(fixed, "make", "add", "total", "isSound", "isAmount", "sum"),
  "core/src/data/credentials.ts": each(reached, "credentialsIn"),
  "core/src/data/escapes.ts": each(reached, "unescaped"),
  "core/src/data/keyFormats.ts": {
    ...each(reached, "isIn", "isLetterOrDigit", "isStart", "keysIn", "merged", "Runs"),
    ...each(none("takes a format of the developer"), "add"),
    ...each(none("takes one of our own lists of characters"), "alphabetOf")
  },
  "core/src/data/messageRepair.ts": { repair: grows({ ...any, ...histories }, repair) },
  "core/src/event/Cursor.ts": {
    read: grows(
      { ...texts, escapes: (size) => `${repeated("~000a", size)}.e.1`, dots: (size) => repeated(".", size) },
      Cursor.read
    ),
    ...each(reached, "of")
  },
  "core/src/event/Snapshot.ts": {
    fromJson: grows({ ...documentsOfRuns, ...any }, (document) => Effect.runSyncExit(Snapshot.fromJson(document))),
    ...each(none("writes what fromJson has read, or a run of this process"), "toJson", "sign", "requestsOf"),
    ...each(none("signs a decision of a few fields"), "signDecision", "verifyDecision"),
    ...each(schema, "isSnapshot")
  },
  "core/src/tool/RawSchema.ts": {
    make: grows({ ...schemas, ...bombs }, (json) =>
      Result.try(() => Schema.decodeUnknownResult(RawSchema.make(json, { bounds: wide }))({ a: "a" }))
    ),
    whole: grows({ ...schemas, ...bombs }, RawSchema.whole),
    ...each(reached, "tooLarge"),
    ...each(wraps, "shownAs"),
    ...each(looksOnce, "of")
  },
  "core/src/tool/bm25.ts": {
    bm25: grows(texts, (text) =>
      Effect.runSync(bm25([{ name: "a", description: text, parameters: {} }])(text.slice(0, text.length >> 1)))
    )
  },
  "core/src/tool/schemaCost.ts": {
    costlyField: merged({
      schemas: grows({ ...schemas, ...bombs }, (json) => exceededBy(json, wide) ?? costlyField(json, { a: "a" })),
      values: grows({ ...values, ...deepValues }, (value) => costlyField(choices, value))
    })
  },
  "core/src/tool/schemaSize.ts": {
    exceededBy: grows({ ...schemas, ...bombs }, (json) => exceededBy(json, wide)),
    ...each(reached, "targetOf"),
    ...each(looksOnce, "isNode", "listOf", "mapOf")
  }
}
