import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { LOCALES, type Locale } from '../../common/locale.js';

@ApiSchema({ name: 'AgentInstructions' })
export class AgentInstructionsDto {
  @ApiProperty({ enum: LOCALES, enumName: 'Locale' })
  locale!: Locale;

  @ApiProperty({ description: 'One paragraph, to be put into the system prompt as it is' })
  text!: string;
}
