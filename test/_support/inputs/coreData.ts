/** core: data, and the redaction in it. */
import { Effect, Schema } from "effect"
import * as Completion from "../../../packages/core/src/data/Completion.ts"
import * as Digest from "../../../packages/core/src/data/Digest.ts"
import * as ErrorCause from "../../../packages/core/src/data/ErrorCause.ts"
import * as Foreign from "../../../packages/core/src/data/Foreign.ts"
import * as Issue from "../../../packages/core/src/data/Issue.ts"
import * as Message from "../../../packages/core/src/data/Message.ts"
import * as RawSchema from "../../../packages/core/src/data/RawSchema.ts"
import * as RetryAfter from "../../../packages/core/src/data/RetryAfter.ts"
import * as Secrets from "../../../packages/core/src/data/Secrets.ts"
import { repair } from "../../../packages/core/src/data/messageRepair.ts"
import { deepValues, histories, misfits, replies, schemas, texts, values } from "./data.ts"
import { each, effectOnly, fixed, grows, looksOnce, reached, schema, type Table, wraps } from "./entry.ts"

const request = { runId: "run", key: "run/1/1", callId: "c1", tool: "look", schema: "", expiresAt: 0 }

const any = { ...values, ...deepValues }

const secret = `${"Zx9".repeat(8)}=`

export const coreData: Table = {
  "core/src/data/Approval.ts": {
    ...each(schema, "Request"),
    ...each(looksOnce, "isRequest"),
    ...each(wraps, "approveWith", "refuse")
  },
  "core/src/data/Completion.ts": {
    ...each(schema, "Completion"),
    ...each(wraps, "make", "failed"),
    withResult: grows(values, (value) => Completion.withResult("done", value)),
    withMetadata: grows(values, (value) => Completion.withMetadata("done", { value })),
    ...each(looksOnce, "isCompletion")
  },
  "core/src/data/Digest.ts": {
    canonical: grows(values, Digest.canonical),
    digestOf: grows(values, (value) => Effect.runSync(Digest.digestOf(value))),
    digestOfRequest: grows(values, (value) =>
      Effect.runSync(Digest.digestOfRequest({ ...request, arguments: value }, value))
    )
  },
  "core/src/data/ErrorCause.ts": {
    ...each(schema, "ForeignError"),
    nested: grows(texts, (text) =>
      Schema.encodeUnknownSync(ErrorCause.nested(() => Schema.Never))(new Error(text, { cause: text }))
    ),
    summarise: grows(texts, (text) => ErrorCause.summarise({ name: text, message: text, code: text })),
    ...each(reached, "messageOf", "tagOf"),
    sayingOf: grows(texts, (text) => ErrorCause.sayingOf(new Error(text))),
    mask: grows(texts, (text) => ErrorCause.mask(text, Infinity)),
    maskKeys: grows(texts, ErrorCause.maskKeys),
    cut: grows(texts, (text) => ErrorCause.cut(text, text.length - 1))
  },
  "core/src/data/Foreign.ts": {
    ...each(effectOnly, "quietly"),
    ...each(looksOnce, "property"),
    isDeep: grows(any, (value) => Foreign.isDeep(value))
  },
  "core/src/data/Identifier.ts": each(fixed, "draw"),
  "core/src/data/Issue.ts": {
    fromSchema: grows(misfits, ({ input, issue }) => Issue.fromSchema(issue, input)),
    ...each(reached, "format"),
    formatAll: grows(misfits, ({ input, issue }) => Issue.formatAll(Issue.fromSchema(issue, input)))
  },
  "core/src/data/Message.ts": {
    ...each(wraps, "text", "system", "user", "image", "file", "assistant"),
    textOf: grows(replies, Message.textOf),
    callsOf: grows(replies, Message.callsOf),
    settle: grows(replies, (reply) => Message.settle(reply, [])),
    ...each(looksOnce, "isError")
  },
  "core/src/data/Once.ts": each(effectOnly, "once"),
  "core/src/data/RawSchema.ts": {
    make: grows(schemas, (json) => Schema.decodeUnknownResult(RawSchema.make(json))({ a: "a" })),
    whole: grows(schemas, RawSchema.whole),
    ...each(wraps, "shownAs"),
    ...each(looksOnce, "of")
  },
  "core/src/data/RetryAfter.ts": {
    parse: grows(texts, (text) => RetryAfter.parse(text, 0)),
    httpDate: grows(texts, RetryAfter.httpDate)
  },
  "core/src/data/Secrets.ts": {
    maskShapes: grows(texts, Secrets.maskShapes),
    maskAll: grows(texts, Secrets.maskAll),
    mask: grows(
      { ...texts, "a secret": (size) => secret.repeat(Math.floor(size / secret.length)) },
      Secrets.mask([secret, "wvu-987654"])
    )
  },
  "core/src/data/Unchecked.ts": each(effectOnly, "kept"),
  "core/src/data/Usage.ts": each(fixed, "make", "add", "total"),
  "core/src/data/messageRepair.ts": { repair: grows({ ...any, ...histories }, repair) }
}
