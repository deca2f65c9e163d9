import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { LOCALES, type Locale } from '../../common/locale.js';

export class AgentInstructionsQuery {
  @ApiProperty({
    enum: LOCALES,
    enumName: 'Locale',
    required: false,
    description: 'Left out: the language of the app, else that of the settings',
  })
  @IfGiven()
  @IsIn(LOCALES)
  locale?: Locale;
}
