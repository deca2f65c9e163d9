/** The languages of the texts that a model reads. */
export type Locale = 'zh-CN' | 'en';
