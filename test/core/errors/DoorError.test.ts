/** The messages about data from outside. */
import { describe, it } from "@effect/vitest"
import * as DoorError from "@kintsugi/core/DoorError"
import { reads } from "../_support/messages.ts"

describe("the message of", () => {
  it("InputTooLargeError [T9 T10]", () =>
    reads("Make it smaller, or raise the bound where you trust it", [
      [
        DoorError.InputTooLargeError.make({ what: "The schema", bound: "depth", limit: 5 }),
        "The schema is beyond the bound of 5 levels (depth)"
      ],
      [
        DoorError.InputTooLargeError.make({ what: "The schema", bound: "nodes", limit: 5 }),
        "The schema is beyond the bound of 5 nodes (nodes)"
      ],
      [
        DoorError.InputTooLargeError.make({ what: "The schema", bound: "bytes", limit: 5 }),
        "The schema is beyond the bound of 5 bytes (bytes)"
      ]
    ]))

  it("RunLostError [T9 T10]", () =>
    reads("Look up what was done in it, and start another one", [
      [DoorError.RunLostError.make({ executionId: "e" }), "Run 'e' is lost: a row is gone from its storage"],
      [
        DoorError.RunLostError.make({ executionId: "e", what: "row 5" }),
        "Run 'e' is lost: row 5 is gone from its storage"
      ]
    ]))

  it("SnapshotRefusedError [T9 T10]", () =>
    reads("Resume the newest document of your own store", [
      [DoorError.SnapshotRefusedError.make({ reason: "unsigned" }), "The snapshot is refused (unsigned)"],
      [
        DoorError.SnapshotRefusedError.make({ reason: "malformed", what: "It is no snapshot" }),
        "It is no snapshot (malformed)"
      ]
    ]))

  it("RunOverError [T9 T10]", () =>
    reads("Start another run, or resume from its snapshot or transcript", [
      [DoorError.RunOverError.make({ runId: "r" }), "Run 'r' is not at work"]
    ]))

  it("InboxFullError [T9 T10]", () =>
    reads("Wait until the run has read some messages, then send it again", [
      [DoorError.InboxFullError.make({ runId: "r", limit: 5 }), "The inbox of run 'r' is full: 5 messages wait"]
    ]))

  it("CursorExpiredError [T9 T10]", () =>
    reads("Begin with the transcript so far, or with the first event", [
      [DoorError.CursorExpiredError.make({ oldest: "" }), "The events behind the cursor are gone"],
      [DoorError.CursorExpiredError.make({ oldest: "", reason: "malformed" }), "The text is no cursor"],
      [DoorError.CursorExpiredError.make({ oldest: "", reason: "other-run" }), "The cursor is of another run"],
      [DoorError.CursorExpiredError.make({ oldest: "", reason: "unknown" }), "No event of the run has this cursor"]
    ]))
})
