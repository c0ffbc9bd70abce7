/** Refuses a snapshot or a decision, and says why. Apart from the error: only what resumes brings these words along. */
import * as Effect from "effect/Effect"
import { SnapshotRefusedError } from "../errors/DoorError.ts"

const clauses = {
  unsigned: "has no signature",
  "bad-signature": "does not have the signature of its content and audience",
  "unknown-key": "was signed with a key that is not known",
  "already-resumed": "was resumed before",
  malformed: "is not what a run of this version goes on with: read a document with Snapshot.fromJson",
  "other-agent": "is about a run of another agent"
} as const

/** `subject` names the snapshot or the decision. */
export const refused = (
  reason: SnapshotRefusedError["reason"],
  subject: string
): Effect.Effect<never, SnapshotRefusedError> =>
  Effect.fail(SnapshotRefusedError.make({ reason, what: `${subject} ${clauses[reason]}` }))
