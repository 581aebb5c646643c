using Microsoft.Extensions.Logging;
using Serilog.Core;
using Serilog.Events;
using Serilog.Extensions.Logging;
using Serilog.Formatting.Display;

namespace FastPort.Programs.Hosting;

/// <summary>
/// Passes events to logger providers with their texts as the console shows them. Serilog's own sink for providers puts names in quotes,
/// which the messages already contain.
/// </summary>
internal sealed class PlainTextSink(LoggerProviderCollection providers) : ILogEventSink
{
    private static readonly MessageTemplateTextFormatter Text = new("{Message:lj}");

    public void Emit(LogEvent logEvent)
    {
        var text = new StringWriter();
        Text.Format(logEvent, text);
        string source = logEvent.Properties.TryGetValue(Constants.SourceContextPropertyName, out LogEventPropertyValue? value)
            && value is ScalarValue { Value: string name } ? name : string.Empty;
        foreach (ILoggerProvider provider in providers.Providers)
        {
            provider.CreateLogger(source).Log(
                LevelConvert.ToExtensionsLevel(logEvent.Level), default, text.ToString(), logEvent.Exception, static (line, _) => line);
        }
    }
}
