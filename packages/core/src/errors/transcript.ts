/** The transcript that an error takes along. */
import * as CauseCodec from "../data/CauseCodec.ts"
import * as Message from "../data/Message.ts"

/**
 * Checked when it comes from outside, but not whenever an error is made: the run itself has written the transcript, and it may be
 * long.
 */
export const CarriedTranscript = CauseCodec.carried(Message.Transcript)
