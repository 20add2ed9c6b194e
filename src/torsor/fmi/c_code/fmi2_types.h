/* Types of the functions of FMI 2.0 (fmi-standard.org): handles are pointers, Booleans and enumerations are int. */
#ifndef TORSOR_FMI2_TYPES_H
#define TORSOR_FMI2_TYPES_H

#include <stddef.h>

typedef void (*Fmi2Logger)(void *environment, const char *instance, int status, const char *category, const char *message, ...);

typedef struct {
  Fmi2Logger logger;
  void *(*allocate)(size_t count, size_t size);
  void (*release)(void *memory);
  void (*step_finished)(void *environment, int status);
  void *environment;
} Fmi2Callbacks;

typedef struct {
  int discrete_states_needed, terminate, nominals_changed, values_changed, next_event_defined;
  double next_event_time;
} Fmi2EventInfo;

#endif
