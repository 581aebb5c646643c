using FastPort.Programs;

namespace FastPort.Client.Administration;

/// <summary>Runs the commands that work on files.</summary>
internal static class CommandRun
{
    /// <summary>Runs a command, and converts failures that the user can correct to sentences and exit codes.</summary>
    /// <param name="run">The command; returns the exit code.</param>
    public static Task<int> ReportAsync(Func<int> run) => ProgramRun.ReportAsync(
        () =>
        {
            try
            {
                return Task.FromResult(run());
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                throw new CommandFailedException(ExitCode.Failed, e.Message);
            }
            catch (ArgumentException e)
            {
                // Without the name of the method's parameter, which the user does not know.
                int end = e.Message.LastIndexOf(" (Parameter ", StringComparison.Ordinal);
                throw new CommandFailedException(ExitCode.Usage, end < 0 ? e.Message : e.Message[..end]);
            }
        },
        Console.Error);
}
