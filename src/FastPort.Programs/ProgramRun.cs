using System.CommandLine;
using System.CommandLine.Parsing;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;
using Serilog;
using Serilog.Core;
using Serilog.Debugging;
using Serilog.Events;
using Serilog.Settings.Configuration;

namespace FastPort.Programs;

/// <summary>
/// The common parts of both programs: read arguments and configuration, and convert failures to lines on standard error and exit codes.
/// </summary>
internal static class ProgramRun
{
    private const int MostTroubleCharacters = 400;

    private static readonly TimeSpan LogCloseTimeout = TimeSpan.FromSeconds(5);

    private static string _logTrouble = string.Empty;
    private static int _logTroubleIsTold;

    /// <summary>Parses, runs and returns the exit code.</summary>
    /// <param name="root">The program's commands.</param>
    /// <param name="args">The program's arguments.</param>
    /// <param name="error">Receives the errors in the arguments.</param>
    public static async Task<int> InvokeAsync(RootCommand root, string[] args, TextWriter error)
    {
        CompletionCommand.AddTo(root);
        ProgramHelp.SetUp(root);

        // An argument that begins with @ is a value like others: a tag's text, a user's name, an abstract socket.
        ParseResult parsed = root.Parse(args, new ParserConfiguration { ResponseFileTokenReplacer = null });
        if (parsed.Errors.Count > 0)
        {
            foreach (ParseError problem in parsed.Errors)
            {
                await error.WriteLineAsync(problem.Message).ConfigureAwait(false);
            }

            await error.WriteLineAsync("Run with --help to see the options.").ConfigureAwait(false);
            return ExitCode.Usage;
        }

        // The running command handles Ctrl+C and SIGTERM and ends in order; the parser must not end the process first.
        return await parsed.InvokeAsync(new InvocationConfiguration { ProcessTerminationTimeout = null }).ConfigureAwait(false);
    }

    /// <summary>Runs, and converts failures that the user can correct to exit codes.</summary>
    /// <param name="run">The program; returns the exit code.</param>
    /// <param name="error">Receives a sentence per problem.</param>
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
        catch (Exception e) when (e is EndpointException or TimeoutException)
        {
            return await FailAsync(ExitCode.Failed, e.Message).ConfigureAwait(false);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException or UnauthorizedAccessException)
        {
            // appsettings.json, or a file that an option names, does not exist or cannot be read.
            return await FailAsync(ExitCode.Usage, e.Message).ConfigureAwait(false);
        }
        catch (IOException e)
        {
            // Such as a standard output that is full: the command's result is lost.
            return await FailAsync(ExitCode.Failed, e.Message).ConfigureAwait(false);
        }
        catch (InvalidDataException e)
        {
            // appsettings.json is not valid JSON. Only the innermost exception knows the line.
            Exception first = e.GetBaseException();
            return await FailAsync(ExitCode.Usage, first == e ? e.Message : $"{e.Message} {first.Message}").ConfigureAwait(false);
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

    // A blocked console or disk can lose the last lines, but must not prevent the end of the program.
    private static async Task CloseLogAsync()
    {
        try
        {
            await Task.Run(static () => Log.CloseAndFlushAsync().AsTask()).WaitAsync(LogCloseTimeout).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // There is no output left that could report it.
        }
        catch (IOException)
        {
            // What the log could not write before, such as on a full disk. It was reported then.
        }
    }

    // Once, for every line fails where one does. Lines dropped in a flood are not a failure of the log.
    private static void TellLogTrouble(string text)
    {
        if (text.Contains("(Temporary, ", StringComparison.Ordinal))
        {
            // The write is retried; only this text contains the file's name.
            _logTrouble = Shorten(text);
        }
        else if (!text.Contains("unable to enqueue", StringComparison.OrdinalIgnoreCase)
            && Interlocked.Exchange(ref _logTroubleIsTold, 1) == 0)
        {
            Console.Error.WriteLine(
                $"The log cannot be written: {Shorten(text)}. Its directory must be writable and, for a file that several programs share, "
                + $"/tmp too. The program continues without it. {_logTrouble}".TrimEnd());
        }
    }

    // It begins with the time, and an exception ends with its stack trace.
    private static string Shorten(string text)
    {
        int begin = text.IndexOf(' ', StringComparison.Ordinal) + 1;
        int end = text.IndexOf("\n   at ", StringComparison.Ordinal) is var trace and > 0 ? trace : text.Length;
        string why = string.Join(' ', text[begin..end].Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
        return why.Length > MostTroubleCharacters ? why[..MostTroubleCharacters] : why;
    }

    /// <summary>
    /// Adds a configuration file, the environment, which overrides it, and the command line, which overrides both.
    /// </summary>
    /// <param name="configuration">Receives them.</param>
    /// <param name="transport">What the command line says about transports.</param>
    /// <param name="file">
    /// The configuration file, relative to the working directory. Defaults to appsettings.json in the program's directory.
    /// </param>
    public static void AddSettings(IConfigurationBuilder configuration, TransportChoice transport, string? file = null) => configuration
        .AddJsonFile(
            string.IsNullOrEmpty(file) ? Path.Combine(AppContext.BaseDirectory, "appsettings.json") : Path.GetFullPath(file),
            optional: false)
        .AddEnvironmentVariables()
        .AddInMemoryCollection(transport.ToConfiguration());

    /// <summary>
    /// Creates the logger of section <c>Serilog</c>. Without the host's own log: it would report a failed start with a stack trace, and the
    /// program reports it in a sentence.
    /// </summary>
    /// <param name="configuration">The program's configuration.</param>
    /// <param name="problems">Receives why the section cannot be used; the logger then logs nothing.</param>
    /// <param name="configure">Changes the section's settings. Defaults to nothing.</param>
    public static Logger CreateLogger(
        IConfiguration configuration, ICollection<string> problems, Action<LoggerConfiguration>? configure = null)
    {
        SelfLog.Enable(TellLogTrouble);
        try
        {
            // Serilog searches sinks in the packages that the section names. Without names it searches the files in the program's
            // directory, which takes time.
            IEnumerable<IConfigurationSection> names = configuration.GetSection("Serilog:Using").GetChildren();
            Assembly[] named = [.. names.Select(static name => Assembly.Load(name.Value ?? string.Empty))];
            ConfigurationReaderOptions search = named.Length == 0 ? new() : new([typeof(Log).Assembly, .. named]);
            LoggerConfiguration logger = new LoggerConfiguration()
                .ReadFrom.Configuration(configuration, search)
                .MinimumLevel.Override("Microsoft.Extensions.Hosting.Internal.Host", LogEventLevel.Fatal);
            configure?.Invoke(logger);
            return logger.CreateLogger();
        }
        catch (Exception e)
        {
            // Serilog has no specific exception for an invalid configuration.
            problems.Add($"Serilog: {e.Message}");
            return new LoggerConfiguration().CreateLogger();
        }
    }
}
