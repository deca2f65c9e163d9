import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeyRing } from './key-ring.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text, as JSON columns keep it. */
export interface SealedText {
  /** Id of the key that sealed it. */
  key: string;
  /** Nonce, tag and AES-256-GCM cipher text, in base64. */
  sealed: string;
}

/** Where a sealed text belongs: it opens nowhere else. */
export interface SecretPlace {
  table: string;
  rowId: string;
  field: string;
}

/** A sealed text can't be opened; the message says why, without a word of it. */
export class SecretNotOpenedError extends Error {}

/** Seals secrets at rest. */
@Injectable()
export class SecretBox {
  constructor(private readonly keys: KeyRing) {}

  /** With the first key. */
  seal(text: string, place: SecretPlace): SealedText {
    const { id, key } = this.keys.first;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(toBytes(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const parts = Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    return { key: id, sealed: parts.toString('base64') };
  }

  /** @throws SecretNotOpenedError when its key is missing, it was changed, or it belongs elsewhere. */
  open({ key: id, sealed }: SealedText, place: SecretPlace): string {
    const key = this.keys.find(id)?.key;
    if (key === undefined)
      throw new SecretNotOpenedError(`its key "${id}" is not among BGC_SECRETS_KEYS`);
    try {
      return decipher(key, Buffer.from(sealed, 'base64'), toBytes(place));
    } catch {
      throw new SecretNotOpenedError(
        'it was changed, or sealed for another place or by another key',
      );
    }
  }

  isSealedByFirst({ key }: SealedText): boolean {
    return key === this.keys.first.id;
  }
}

function decipher(key: Buffer, parts: Buffer, place: Buffer): string {
  const nonce = parts.subarray(0, NONCE_BYTES);
  const tag = parts.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(CIPHER, key, nonce, options).setAAD(place).setAuthTag(tag);
  const sealed = parts.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
}

function toBytes({ table, rowId, field }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([table, rowId, field]));
}
