using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>The line protocol in a host, with options in a section of its own, shown in docs/custom-protocols.md.</summary>
internal static class OptionsSnippets
{
    public static void Add(IServiceCollection services, IConfiguration configuration)
    {
        // docs: options
        services.AddOptions<LineOptions>()
            .BindConfiguration("Lines")
            .Validate(static o => o.Prompt.Length <= 16, "Lines:Prompt is too long; allowed are 0 to 16 characters.")
            .ValidateOnStart();
        services.AddConnectionServer(configuration, static (provider, connection) =>
        {
            string prompt = provider.GetRequiredService<IOptions<LineOptions>>().Value.Prompt;
            return new LineProtocol(connection, (lines, line) => lines.Send(prompt + line.ToUpperInvariant()));
        });

        // docs: end
    }

    internal sealed class LineOptions
    {
        public string Prompt { get; set; } = "> ";
    }
}
