using Microsoft.Extensions.Logging;

namespace FastPort.Fuzz;

/// <summary>A peer must not be able to make the code log errors: those are defects.</summary>
internal static class RecordingLogCheck
{
    public static void NoErrors(RecordingLog log)
    {
        if (log.Lines.FirstOrDefault(static line => line.Level >= LogLevel.Error) is { } error)
        {
            throw new Finding($"Logged: {error.Text} {error.Exception}");
        }
    }
}
