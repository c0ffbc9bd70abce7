/** What runs keep beside the messages of a conversation: results that were put aside, and grants. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Approval, type Tool } from "@kintsugi/core"
import type { Store } from "./Store.ts"
import { lasting } from "./rows.ts"

export const resultsOf = ({ documents }: Store): Tool.ResultStore => ({
  put: ({ handle, owner, text }) => documents.put({ owner, kind: "result", name: handle, value: text }),
  get: ({ handle, owner }) =>
    Effect.map(documents.get({ owner, kind: "result", name: handle }), (value) =>
      typeof value === "string" ? value : undefined
    )
})

const revocations = { owner: lasting, kind: "revocation" }

const encode = Schema.encodeSync(Approval.Grant)
const decode = Schema.decodeUnknownEffect(Approval.Grant)

export const approvalsOf = ({ documents }: Store): Approval.Approvals => ({
  grantsOf: (conversation) =>
    Effect.gen(function* () {
      const all = yield* documents.all({ owner: conversation, kind: "grant" })
      const grants = yield* Effect.forEach(all, ({ value }) => decode(value))
      const kept: Array<Approval.Grant> = []
      for (const grant of grants) if (!(yield* isRevoked(documents, grant.id))) kept.push(grant)
      return kept
    }),
  add: (conversation, grant) =>
    documents.put({ owner: conversation, kind: "grant", name: grant.id, value: encode(grant) }),
  revoke: (id) => documents.put({ ...revocations, name: id, value: true }),
  isRevoked: ({ id }) => isRevoked(documents, id)
})

const isRevoked = (documents: Store["documents"], id: string) =>
  Effect.map(documents.get({ ...revocations, name: id }), (value) => value === true)
