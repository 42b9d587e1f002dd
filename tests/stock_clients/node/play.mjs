// What the players in JavaScript share: the turns to play, a microphone, and the report.

export const QUESTION = "What is the capital of France?";
export const ANSWER = "The capital of France is Paris.";
export const WEATHER_QUESTION = "What is the weather in Paris?";
export const WEATHER = "22 degrees and sunny";
export const WEATHER_ANSWER = `It is ${WEATHER}.`;
export const STORY_QUESTION = "Tell me a story.";
export const LAST_ANSWER = "You said: Stop, please.";

const RATE_HZ = 24_000;
const PIECE_MS = 20;
// Faster than a microphone: nothing on the way looks at the clock on the wall.
const PIECE_EVERY_MS = 5;
const SPEECH_MS = 600;
const PATIENCE_MS = 60_000;

/** Sends silence, and speech when told to, piece by piece, until stopped. */
export class Microphone {
  #speechPieces = 0;
  #position = 0;
  #timer;

  /** @param {(pcm: ArrayBuffer) => void} send takes PCM of 24 kHz, 16 bit, mono */
  start(send) {
    this.#timer = setInterval(() => send(this.#piece()), PIECE_EVERY_MS);
  }

  speak() {
    this.#speechPieces = SPEECH_MS / PIECE_MS;
  }

  stop() {
    clearInterval(this.#timer);
  }

  #piece() {
    const count = (RATE_HZ * PIECE_MS) / 1000;
    const samples = new Int16Array(count);
    if (this.#speechPieces > 0) {
      this.#speechPieces -= 1;
      samples.forEach((_, index) => {
        const time = this.#position + index;
        samples[index] = 9000 * Math.sin((2 * Math.PI * 440 * time) / RATE_HZ);
      });
    }
    this.#position += count;
    return samples.buffer;
  }
}

/** What the client has told its application so far. */
export class Log {
  #notes = [];
  #waiting = new Set();

  note(kind, what = null) {
    this.#notes.push([kind, what]);
    for (const look of [...this.#waiting]) look();
  }

  of(kind) {
    return this.#notes.filter(([each]) => each === kind).map(([, what]) => what);
  }

  /** Wait for a note that makes this true. */
  until(isTrue) {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  untilNoted(kind, times = 1) {
    return this.until(() => this.of(kind).length >= times);
  }

  get tail() {
    return JSON.stringify(this.#notes.slice(-40));
  }
}

/** Play against the server whose address is the only argument; print the report. */
export async function main(play) {
  const log = new Log();
  const limit = setTimeout(() => {
    console.error(`stuck after: ${log.tail}`);
    process.exit(1);
  }, PATIENCE_MS);
  const report = await play(process.argv[2], log);
  clearTimeout(limit);
  console.log(JSON.stringify(report));
}
