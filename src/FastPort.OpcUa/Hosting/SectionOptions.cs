using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace FastPort.OpcUa.Hosting;

/// <summary>
/// Reads the options of one name from a section and checks them after all other configuration. Reports all problems together: those of the
/// section (unknown keys, unreadable values) and those of the resulting values.
/// </summary>
internal sealed class SectionOptions<TOptions>(
    string name,
    IConfigurationSection section,
    Action<TOptions, SectionReader> read,
    Func<TOptions, IEnumerable<string>> validate)
    : IConfigureNamedOptions<TOptions>, IValidateOptions<TOptions>
    where TOptions : class, new()
{
    public void Configure(TOptions options) => Configure(Options.DefaultName, options);

    public void Configure(string? optionsName, TOptions options)
    {
        if (optionsName == name)
        {
            SectionReader.Visit(section, [], s => read(options, s));
        }
    }

    public ValidateOptionsResult Validate(string? optionsName, TOptions options)
    {
        if (optionsName != name)
        {
            return ValidateOptionsResult.Skip;
        }

        // Reads into options that are discarded: a wrong value in the section is reported even if code has replaced it since.
        List<string> problems = [];
        var discarded = new TOptions();
        SectionReader.Visit(section, problems, s => read(discarded, s));
        problems.AddRange(validate(options).Select(InSection));
        return problems.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(problems.Distinct(StringComparer.Ordinal));
    }

    // Sentences of the options name their class, as nothing else is known there.
    private string InSection(string problem)
    {
        string ofClass = typeof(TOptions).Name + ":";
        return problem.StartsWith(ofClass, StringComparison.Ordinal) ? $"{section.Path}:{problem[ofClass.Length..]}" : problem;
    }
}

/// <summary>Registers options that are read from a section and checked when the host starts.</summary>
internal static class SectionOptions
{
    /// <summary>Adds the options.</summary>
    /// <param name="services">The services to add to.</param>
    /// <param name="name">The options' name; empty for those without one.</param>
    /// <param name="section">The section to read.</param>
    /// <param name="read">Names each option.</param>
    /// <param name="validate">All problems of the values.</param>
    public static OptionsBuilder<TOptions> Add<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TOptions>(
        IServiceCollection services,
        string name,
        IConfigurationSection section,
        Action<TOptions, SectionReader> read,
        Func<TOptions, IEnumerable<string>> validate)
        where TOptions : class, new()
    {
        var options = new SectionOptions<TOptions>(name, section, read, validate);
        services.AddSingleton<IConfigureOptions<TOptions>>(options);
        services.AddSingleton<IValidateOptions<TOptions>>(options);
        return services.AddOptions<TOptions>(name).ValidateOnStart();
    }
}
