using System.CommandLine;
using System.CommandLine.Parsing;
using System.Reflection;
using FastPort.Configuration;
using FastPort.Transports;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;
using Serilog;
using Serilog.Core;
using Serilog.Events;
using Serilog.Settings.Configuration;

namespace FastPort.Programs;

/// <summary>
/// What both programs do: read arguments and configuration, and turn failures into lines on standard error and exit codes.
/// </summary>
internal static class ProgramRun
{
    private static readonly TimeSpan LogCloseTimeout = TimeSpan.FromSeconds(5);

    /// <summary>Parses, runs and returns the exit code.</summary>
    /// <param name="root">The program's commands.</param>
    /// <param name="args">The program's arguments.</param>
    /// <param name="error">Where complaints about arguments go.</param>
    public static async Task<int> InvokeAsync(RootCommand root, string[] args, TextWriter error)
    {
        ParseResult parsed = root.Parse(args);
        if (parsed.Errors.Count > 0)
        {
            foreach (ParseError problem in parsed.Errors)
            {
                await error.WriteLineAsync(problem.Message).ConfigureAwait(false);
            }

            await error.WriteLineAsync("Run with --help to see the options.").ConfigureAwait(false);
            return ExitCode.Usage;
        }

        // Ctrl+C and SIGTERM belong to what runs, which ends in order; the parser must not end the process first.
        return await parsed.InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = null }).ConfigureAwait(false);
    }

    /// <summary>Runs, and makes an exit code of what the user can mend.</summary>
    /// <param name="run">What to run; returns the exit code.</param>
    /// <param name="error">Where a sentence says what was wrong.</param>
    public static async Task<int> ReportAsync(Func<Task<int>> run, TextWriter error)
    {
        try
        {
            return await run().ConfigureAwait(false);
        }
        catch (ProgramFailedException e)
        {
            return await FailAsync(e.ExitCode, e.Message).ConfigureAwait(false);
        }
        catch (FastPortOptionsException e)
        {
            return await FailAsync(ExitCode.Usage, [.. e.Problems]).ConfigureAwait(false);
        }
        catch (OptionsValidationException e)
        {
            return await FailAsync(ExitCode.Usage, [.. e.Failures]).ConfigureAwait(false);
        }
        catch (AggregateException e) when (e.InnerExceptions.All(static i => i is OptionsValidationException))
        {
            // The host's, where options of several kinds are wrong.
            IEnumerable<string> failures = e.InnerExceptions.SelectMany(static i => ((OptionsValidationException)i).Failures);
            return await FailAsync(ExitCode.Usage, [.. failures]).ConfigureAwait(false);
        }
        catch (EndpointException e)
        {
            return await FailAsync(ExitCode.Failed, e.Message).ConfigureAwait(false);
        }
        catch (FileNotFoundException e)
        {
            // No appsettings.json.
            return await FailAsync(ExitCode.Usage, e.Message).ConfigureAwait(false);
        }
        catch (InvalidDataException e)
        {
            // appsettings.json is no JSON.
            return await FailAsync(ExitCode.Usage, e.InnerException is null ? e.Message : $"{e.Message} {e.InnerException.Message}")
                .ConfigureAwait(false);
        }
        finally
        {
            await CloseLogAsync().ConfigureAwait(false);
        }

        async Task<int> FailAsync(int exitCode, params string[] problems)
        {
            foreach (string problem in problems)
            {
                await error.WriteLineAsync(problem).ConfigureAwait(false);
            }

            return exitCode;
        }
    }

    // A console or a disk that takes nothing costs the last lines, not the end of the program.
    private static async Task CloseLogAsync()
    {
        try
        {
            await Task.Run(static () => Log.CloseAndFlushAsync().AsTask()).WaitAsync(LogCloseTimeout).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // There is nowhere to tell it.
        }
    }

    /// <summary>
    /// Adds appsettings.json, found beside the program, the environment, which overrides it, and what the command line says, which
    /// overrides both.
    /// </summary>
    public static void AddSettings(IConfigurationBuilder configuration, TransportChoice transport) => configuration
        .SetBasePath(AppContext.BaseDirectory)
        .AddJsonFile("appsettings.json", optional: false)
        .AddEnvironmentVariables()
        .AddInMemoryCollection(transport.ToConfiguration());

    /// <summary>
    /// Makes the logger of section <c>Serilog</c>. The host's own log is left out: it would say with a stack trace why the host cannot
    /// start, and the program says it in a sentence.
    /// </summary>
    /// <exception cref="FastPortOptionsException">The section cannot be used.</exception>
    public static Logger CreateLogger(IConfiguration configuration)
    {
        try
        {
            // Sinks are looked for in the packages that the section names. Without names Serilog searches the files beside the program,
            // which takes time.
            IEnumerable<IConfigurationSection> names = configuration.GetSection("Serilog:Using").GetChildren();
            Assembly[] named = [.. names.Select(static name => Assembly.Load(name.Value ?? string.Empty))];
            ConfigurationReaderOptions search = named.Length == 0 ? new() : new([typeof(Log).Assembly, .. named]);
            return new LoggerConfiguration()
                .ReadFrom.Configuration(configuration, search)
                .MinimumLevel.Override("Microsoft.Extensions.Hosting.Internal.Host", LogEventLevel.Fatal)
                .CreateLogger();
        }
        catch (Exception e)
        {
            // Serilog has no exception of its own for a configuration that it cannot use.
            throw new FastPortOptionsException([$"Serilog: {e.Message}"]);
        }
    }
}
