import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ServerTest } from '../reachability/server-tester.js';
import { ServerErrorDto } from './server-error.dto.js';

@ApiSchema({ name: 'McpServerAbout', description: 'What the server told of itself.' })
class McpServerAboutDto {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String })
  version!: string;

  @ApiProperty({ type: String, example: '2025-11-25' })
  protocolVersion!: string;
}

@ApiSchema({ name: 'McpServerTest' })
export class ServerTestDto {
  @ApiProperty({
    type: Boolean,
    description: 'Whether it could be connected to and told its tools',
  })
  reachable!: boolean;

  @ApiProperty({ type: 'integer', description: 'Milliseconds that the test took' })
  durationMs!: number;

  @ApiProperty({ type: McpServerAboutDto, required: false, description: 'Of a reachable server' })
  server?: McpServerAboutDto;

  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'How many tools it offers, if it is reachable',
  })
  toolCount?: number;

  @ApiProperty({ type: ServerErrorDto, required: false, description: 'Why it is not reachable' })
  error?: ServerErrorDto;

  static from(test: ServerTest): ServerTestDto {
    const { reachable, durationMs } = test;
    if (!reachable) {
      const { code, message } = test.failure;
      return { reachable, durationMs, error: { code, message } };
    }
    const { name, version, protocolVersion } = test.about;
    const server = { name, version, protocolVersion };
    return { reachable, durationMs, server, toolCount: test.toolCount };
  }
}
